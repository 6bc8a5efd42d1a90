/** Builds the single HTML document, which contains no visible text and no inline script or style. */
import Negotiator from 'negotiator'

interface Language {
  /** Texts of Home; the English ones are part of the script. */
  first?: string
  more: string
  direction: 'ltr' | 'rtl'
}

/** What the build reports about the page. */
export interface Built {
  script: string
  style: string
  /** Styles of all views except Home. */
  moreStyle: string
  /** Chunks that the script imports statically. */
  preload: string[]
  /** Chunks of each view, by the name of its file. */
  views: Record<string, string[]>
  /** File name → its compressed forms. */
  assets: Record<string, Array<'br' | 'gz'>>
  icons: string[]
  /** The icon as a data URL, sent with the document. */
  mark: string
  /** The script in the frame of a plugin page. */
  pluginPage: string
  /** Languages by their BCP 47 tags. */
  languages: Record<string, Language>
}

const BASIS = 'en'
/** Maximum number of languages of `Accept-Language` that are considered. */
const MOST_WISHES = 20
const LONGEST_WISHES = 1000
const CHOSEN_LANGUAGE = /(?:^|;\s*)av_language=([A-Za-z0-9-]{2,35})(?:;|$)/

/** What determines the language: two request headers as received. */
export interface Wishes {
  cookies: string
  /** The header `Accept-Language`. */
  accepted: string
}

/**
 * The language chosen on this page, otherwise the browser's first supported one. A regional tag such as `de-CH` matches
 * `de`.
 */
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
  /** A pattern of `ADDRESSES`. The chunk of its view is preloaded. */
  address: string
  /** The setting `basePath`. */
  base: string
  /** Cookies may contain a chosen theme, which is then applied before the first paint. */
  wishes: Wishes
  /** Nobody has signed in with the generated password yet, so the page says where to find it. */
  isUnused: boolean
  /** The first choices have not been made, so the page offers them to admins. */
  isWelcomeDue: boolean
  /** Some plugins have pages, so the page requests their list. */
  hasPluginPages: boolean
  /** Names of built-in plugins that are switched off. */
  leftOut: readonly string[]
}

/** The beginning of each document. @param path  the base path, escaped */
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
<noscript>This page needs JavaScript. The API works without it: see /api/docs/.</noscript>
</body>
</html>
`
}

/** The document in the frame of a plugin page. @param module  its URL path, from the root of the host */
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
