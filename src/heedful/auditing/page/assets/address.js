// What is being looked at is kept in the address after the #, so that a link leads back to it.

const address = {
  read: () => Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  write(changes) {
    const now = { ...address.read(), ...changes };
    const kept = Object.entries(now).filter(([, value]) => value !== null && value !== "");
    // Commas and the like stay readable; what a reader typed is still escaped.
    const text = kept
      .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value).replaceAll("%2C", ",")}`)
      .join("&");
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  },
};

const copyLink = () =>
  button("Copy link to this view", () => copyText(location.href, "Link"), { class: "plain small" });
