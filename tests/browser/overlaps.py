"""Whether texts of a page lie on each other: the boxes of all visible pieces of text, line by line."""

from typing import Any

_BOXES = """(root) => {
  const boxes = [];
  const shared = (a, b) => ({
    left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom),
  });
  const walker = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest("script, title, option, textarea, .said")) continue;
    if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // What a scrolling or clamping ancestor cuts off is not seen.
    let clip = { left: -1e9, right: 1e9, top: -1e9, bottom: 1e9 };
    for (let up = parent; up !== document.body; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (style.overflowX === "visible" || up.namespaceURI.endsWith("svg")) continue;
      clip = shared(clip, up.getBoundingClientRect());
    }
    for (const line of range.getClientRects()) {
      const box = shared(line, clip);
      if (box.right - box.left < 1 || box.bottom - box.top < 1) continue;
      boxes.push({ ...box, text: node.textContent.trim().slice(0, 40) });
    }
  }
  return boxes;
}"""


def overlapping_texts(page: Any, root: str = "main") -> list[tuple[str, str]]:
    """Pairs of texts whose boxes share more than a sliver (2 pixels across, and a third of a line)."""
    boxes = sorted(page.evaluate(_BOXES, root), key=lambda box: box["top"])
    found = []
    for place, first in enumerate(boxes):
        for second in boxes[place + 1 :]:
            if second["top"] >= first["bottom"]:
                break
            across = min(first["right"], second["right"]) - max(first["left"], second["left"])
            down = min(first["bottom"], second["bottom"]) - second["top"]
            line = min(first["bottom"] - first["top"], second["bottom"] - second["top"])
            if across > 2 and down > line / 3:
                found.append((first["text"], second["text"]))
    return found
