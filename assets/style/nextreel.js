// What only the browser can do for people: see pages/ui/browser.py. Runs anew whenever `data` changes.

const COOKIE = "nextreel_tour=seen; path=/; max-age=31536000; SameSite=Lax"
const MARKDOWN = ['\\\\', ":small[", ":gray["].map((sign) => `[aria-label*="${sign}"]`).join(", ") + ', [aria-label^="*"]'
const LISTS = ".st-key-sequence, .st-key-cards, .st-key-picks:not(:has(.st-key-cards)), .st-key-shelf-cards, .st-key-found, .st-key-near"
// Streamlit's drop zone has a name and can have the focus, which the role "presentation" contradicts.
const DROPZONES = "[data-testid=stFileUploaderDropzone][role=presentation]"
const OVERLAY = "[role=dialog], [role=menu], [data-st-overlay-root]"

export default function ({ data }) {
  const now = (window.nextreel ??= watch())
  if (now.path !== location.pathname) closeNavigation()
  if (now.step !== undefined && now.step !== data.step) moveFocus(now.step, data.step)
  document.documentElement.lang = data.language
  document.querySelector("[data-testid=stSkipToContent]")?.replaceChildren(data.skip)
  if (data.seen) document.cookie = COOKIE
  now.path = location.pathname
  now.step = data.step
}

// On a phone the navigation lies over the page and would stay open after a page was chosen.
function closeNavigation() {
  if (innerWidth >= 768) return
  document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  setTimeout(() => { // when it is away; a hidden navigation loses the focus to the body
    if (document.activeElement.matches("body, [data-testid=stSidebar] *")) focusHeading()
  }, 400)
}

// When the tour begins the focus goes to it; when it ends, to the heading of the page, as its buttons are gone.
function moveFocus(before, step) {
  if (before === null) document.querySelector(".st-key-tour button")?.focus()
  else if (step === null) focusHeading()
}

function focusHeading() {
  const heading = document.querySelector("h1")
  heading?.setAttribute("tabindex", "-1")
  heading?.focus()
}

function watch() {
  let last = null // what had the focus before a menu or a dialog opened
  let open = false
  document.addEventListener("focusin", ({ target }) => {
    if (target.getAttribute("role") === "menu") enterMenu(target)
    else if (!target.closest(OVERLAY)) last = { element: target, key: keyOf(target) }
  })
  const announce = liveRegion()
  new MutationObserver(() => {
    document.querySelectorAll(MARKDOWN).forEach(speakPlainly)
    document.querySelectorAll(LISTS).forEach(markList)
    document.querySelectorAll(DROPZONES).forEach((zone) => zone.setAttribute("role", "group"))
    announce()
    const before = open
    open = document.querySelector("[role=dialog]") !== null
    if (before && !open) setTimeout(() => giveBack(last), 50)
  }).observe(document.body, { childList: true, subtree: true })
  document.querySelectorAll(MARKDOWN).forEach(speakPlainly)
  document.querySelectorAll(LISTS).forEach(markList)
  announce()
  // Whoever is quick chooses a page before this script runs for the first time: the path is that of the first request.
  return { path: new URL(performance.getEntriesByType("navigation")[0].name).pathname }
}

// Streamlit gives screen readers the Markdown of a label: "*More about Brazil \(1985\)*", "Film :small[of this set]".
function speakPlainly(element) {
  const label = element.getAttribute("aria-label")
  element.setAttribute("aria-label", label.replace(/\\(.)|:[a-z-]+\[|[\]*]/g, (_, sign) => sign ?? ""))
}

// Streamlit has no list of widgets: films with buttons get the roles of a list.
function markList(list) {
  const films = [...list.children].filter((child) => child.querySelector("button"))
  for (const child of list.children) setRole(child, films.includes(child) && "listitem")
  setRole(list, films.length > 0 && "list")
}

function setRole(element, role) {
  if (role) element.setAttribute("role", role)
  else element.removeAttribute("role")
}

// One live region outside of Streamlit's elements, which are replaced: it says what is new in elements of class
// nr-status (pages/ui/announce.py). Returns the function that looks for new ones.
function liveRegion() {
  const region = document.createElement("div")
  region.setAttribute("role", "status")
  region.dataset.liveAnnouncer = "true" // an open dialog hides everything else from screen readers, but not this
  region.className = "nr-aside"
  document.body.append(region)
  let known = new Set()
  let waiting = []
  let timer = 0
  return () => {
    const messages = [...document.querySelectorAll(".nr-status")]
    const fresh = messages.filter((message) => message.textContent && !known.has(message.outerHTML))
    known = new Set(messages.map((message) => message.outerHTML))
    if (!fresh.length) return
    waiting.push(...fresh.map((message) => message.textContent))
    clearTimeout(timer)
    region.textContent = "" // so that the same text twice is a change, too
    timer = setTimeout(() => {
      region.textContent = waiting.join(" ")
      waiting = []
    }, 300)
  }
}

// Streamlit leaves the focus on the menu itself, from where the first arrow leads past the first entry.
function enterMenu(menu) {
  menu.querySelector("[role=menuitem]")?.focus()
}

function keyOf(element) {
  const named = element.closest("[class*=st-key-]")
  return named && [...named.classList].find((name) => name.startsWith("st-key-"))
}

// After a dialog the focus returns to where it was, or to what has been drawn anew in its place.
function giveBack(last) {
  if (!last || document.activeElement !== document.body) return
  if (last.element.isConnected) last.element.focus()
  else if (last.key) document.querySelector(`.${CSS.escape(last.key)} button, .${CSS.escape(last.key)} input`)?.focus()
}
