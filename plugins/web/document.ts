/** The one HTML document: no text, no inline script or style; what it may load is said in content-policy.ts. */
import Negotiator from 'negotiator'

interface Language {
  /** What Home says; English has that in the script. */
  first?: string
  more: string
  direction: 'ltr' | 'rtl'
}

/** What the build says of the page. */
export interface Built {
  script: string
  style: string
  /** Of the views that Home does without. */
  moreStyle: string
  /** Chunks that the script needs at once. */
  preload: string[]
  /** Chunks of each view, by the name of its file. */
  views: Record<string, string[]>
  /** File name → what compressed forms lie beside it. */
  assets: Record<string, Array<'br' | 'gz'>>
  icons: string[]
  /** The mark as an address: it comes with the document. */
  mark: string
  /** The script in the frame of a plugin's page. */
  pluginPage: string
  /** By their names in BCP 47. */
  languages: Record<string, Language>
}

const BASIS = 'en'
/** So many languages are looked at that a browser wishes for. */
const MOST_WISHES = 20
const LONGEST_WISHES = 1000
const CHOSEN_LANGUAGE = /(?:^|;\s*)av_language=([A-Za-z0-9-]{2,35})(?:;|$)/

/** What decides on the language: both as received. */
export interface Wishes {
  cookies: string
  /** The header `Accept-Language`. */
  accepted: string
}

/** The one that was chosen here, else what the browser likes best: also Swiss German is German. */
export function languageFor({ languages }: Pick<Built, 'languages'>, { cookies, accepted }: Wishes): string {
  const chosen = CHOSEN_LANGUAGE.exec(cookies)?.[1]
  for (const wish of [...(chosen ? [chosen] : []), ...wishesIn(accepted)]) {
    const parts = wish.toLowerCase().split('-')
    for (let length = parts.length; length > 0; length--) {
      const range = parts.slice(0, length).join('-')
      const found = Object.keys(languages).find((name) => name.toLowerCase() === range)
      if (found) return found
    }
  }
  return BASIS
}

const wishesIn = (accepted: string): string[] =>
  new Negotiator({ headers: { 'accept-language': accepted.slice(0, LONGEST_WISHES) } })
    .languages()
    .slice(0, MOST_WISHES)

const THEME = /(?:^|;\s*)av_theme=(light|dark)(?:;|$)/

interface Asked {
  /** As in `ADDRESSES`: its view is on its way with the script. */
  address: string
  /** The settings' base path. */
  base: string
  /** Its cookies have a chosen look, too: it is there before the first paint. */
  wishes: Wishes
  /** Nobody has ever signed in with the password that the first start made up: the page says where it lies. */
  isUnused: boolean
  /** The first choices are open: admins are offered them. */
  isWelcomeDue: boolean
  /** Plugins bring pages: there is a list to ask for. */
  hasPluginPages: boolean
  /** Names of built-in plugins that are left out. */
  leftOut: readonly string[]
}

/** What each document begins with: the chosen look is there before the first paint. @param path  the base, escaped */
function opening({ languages }: Built, path: string, wishes: Wishes, viewport = ''): string {
  const theme = THEME.exec(wishes.cookies)?.[1]
  const language = languageFor({ languages }, wishes)
  const { first, direction } = languages[language]!
  return `<!doctype html>
<html lang="${language}"${direction === 'rtl' ? ' dir="rtl"' : ''}${theme ? ` data-theme="${theme}"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1${viewport}">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
<meta name="archivolt-base" content="${path}">
${first ? `<meta name="archivolt-first-texts" content="${path}assets/${first}">\n` : ''}`
}

export function toDocument(
  built: Built,
  { address, base, wishes, isUnused, isWelcomeDue, hasPluginPages, leftOut }: Asked,
): string {
  const { script, style, moreStyle, preload, views, languages } = built
  const { first, more: moreTexts } = languages[languageFor(built, wishes)]!
  const path = escape(base)
  const view = address.split('/')[1] || 'home'
  const more = `${path}assets/${moreStyle}`
  const texts = [...(first ? [first] : []), ...(view === 'home' ? [] : [moreTexts])]
  return `${opening(built, path, wishes, ', viewport-fit=cover')}<meta name="archivolt-more-texts" content="${path}assets/${moreTexts}">
<meta name="archivolt-languages" content="${Object.keys(languages).join(' ')}">
<meta name="theme-color" content="#faf8f5" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#171412" media="(prefers-color-scheme: dark)">
${isUnused ? '<meta name="archivolt-unused">\n' : ''}${isWelcomeDue ? '<meta name="archivolt-welcome">\n' : ''}${hasPluginPages ? '<meta name="archivolt-plugin-pages">\n' : ''}${leftOut.length > 0 ? `<meta name="archivolt-left-out" content="${leftOut.join(' ')}">\n` : ''}<title>Archivolt</title>
<link rel="stylesheet" href="${path}assets/${style}">
${view === 'home' ? `<meta name="archivolt-styles" content="${more}">` : `<link rel="stylesheet" href="${more}">`}
<script type="module" src="${path}assets/${script}"></script>
${[...new Set([...preload, ...(views[view] ?? []), ...texts])]
  .filter((name) => name !== script)
  .map((name) => `<link rel="modulepreload" href="${path}assets/${name}">`)
  .join('\n')}
<link rel="icon" href="${built.mark}" type="image/svg+xml">
<link rel="apple-touch-icon" href="${path}icons/mark-180.png">
<link rel="manifest" href="${path}manifest.webmanifest">
</head>
<body>
<div id="app"></div>
<noscript>Archivolt needs JavaScript for its page. Its API works without: see /api/docs/.</noscript>
</body>
</html>
`
}

/** What the frame of a plugin's page holds. @param module  its address, from the root of the host */
export function toPluginDocument(
  built: Built,
  { base, wishes, title, module }: { base: string; wishes: Wishes; title: string; module: string },
): string {
  const { style, moreStyle, pluginPage } = built
  const path = escape(base)
  return `${opening(built, path, wishes)}<meta name="archivolt-module" content="${escape(module)}">
<title>${escape(title)}</title>
<link rel="stylesheet" href="${path}assets/${style}">
<link rel="stylesheet" href="${path}assets/${moreStyle}">
<script type="module" src="${path}assets/${pluginPage}"></script>
</head>
<body class="plugin-page">
</body>
</html>
`
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (value: string): string => value.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
