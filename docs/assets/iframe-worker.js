// A page that was opened from the folder may not start a worker, and search needs one. There an invisible
// frame stands in for it, so that nothing has to be fetched from elsewhere.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super()
    const frame = document.createElement("iframe")
    frame.hidden = true
    document.body.appendChild(frame)
    this.frame = frame
    const inside = frame.contentWindow
    this.heard = event => {
      if (event.source !== inside) return
      const message = new MessageEvent("message", { data: event.data })
      this.dispatchEvent(message)
      if (this.onmessage) this.onmessage(message)
    }
    addEventListener("message", this.heard)
    inside.document.open()
    inside.document.write(`<html><body><script>
      postMessage = data => parent.dispatchEvent(new MessageEvent("message", { data, source: window }))
      importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done, failed) => {
        const script = document.createElement("script")
        Object.assign(script, { src: url, onload: done, onerror: failed })
        document.body.appendChild(script)
      })), Promise.resolve())
    <\/script><script src="${url}"><\/script></body></html>`)
    this.ready = new Promise(done => { inside.onload = done })
    inside.document.close()
  }
  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
  }
  terminate() {
    removeEventListener("message", this.heard)
    this.frame.remove()
  }
}
window.IFrameWorker = IFrameWorker
if (location.protocol === "file:") window.Worker = IFrameWorker
