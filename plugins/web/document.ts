/** The one HTML document: no text, no inline script or style; what it may load is said in its policy. */
import { contentPolicy } from 'archivolt'

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
  /** The script in the frame of a plugin's page. */
  pluginPage: string
}

export const PAGE_POLICY = contentPolicy({
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': `'self' data:`,
  'media-src': `'self' blob:`,
  'connect-src': `'self'`,
  'manifest-src': `'self'`,
  // Pages of plugins.
  'frame-src': `'self'`,
  'form-action': `'self'`,
})

/**
 * Of a plugin's page: an origin of its own, so that it has no cookie, no storage, and no way into the page around it. It
 * loads its scripts and styles, and asks only through that page. Forms send nothing, but tell their scripts of Enter.
 */
export const PLUGIN_PAGE_POLICY = contentPolicy({
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': 'data: blob:',
  'frame-ancestors': `'self'`,
  sandbox: 'allow-scripts allow-forms',
})

const THEME = /(?:^|;\s*)av_theme=(light|dark)(?:;|$)/

interface Asked {
  /** As in `ADDRESSES`: its view is on its way with the script. */
  address: string
  /** The settings' base path. */
  base: string
  /** As received: a chosen look is there before the first paint. */
  cookies: string
  /** Nobody has ever signed in with the password that the first start made up: the page says where it lies. */
  isUnused: boolean
  /** Plugins bring pages: there is a list to ask for. */
  hasPluginPages: boolean
}

/** What each document begins with: the chosen look is there before the first paint. @param path  the base, escaped */
function opening(path: string, cookies: string, viewport = ''): string {
  const theme = THEME.exec(cookies)?.[1]
  return `<!doctype html>
<html lang="en"${theme ? ` data-theme="${theme}"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1${viewport}">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
<meta name="archivolt-base" content="${path}">
`
}

export function toDocument(
  { script, style, moreStyle, preload, views }: Built,
  { address, base, cookies, isUnused, hasPluginPages }: Asked,
): string {
  const path = escape(base)
  const view = address.split('/')[1] || 'home'
  const more = `${path}assets/${moreStyle}`
  return `${opening(path, cookies, ', viewport-fit=cover')}<meta name="theme-color" content="#faf8f5" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#171412" media="(prefers-color-scheme: dark)">
${isUnused ? '<meta name="archivolt-unused">\n' : ''}${hasPluginPages ? '<meta name="archivolt-plugin-pages">\n' : ''}<title>Archivolt</title>
<link rel="stylesheet" href="${path}assets/${style}">
${view === 'home' ? `<meta name="archivolt-styles" content="${more}">` : `<link rel="stylesheet" href="${more}">`}
<script type="module" src="${path}assets/${script}"></script>
${[...new Set([...preload, ...(views[view] ?? [])])]
  .filter((name) => name !== script)
  .map((name) => `<link rel="modulepreload" href="${path}assets/${name}">`)
  .join('\n')}
<link rel="icon" href="${path}icons/mark.svg" type="image/svg+xml">
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
  { style, moreStyle, pluginPage }: Built,
  { base, cookies, title, module }: { base: string; cookies: string; title: string; module: string },
): string {
  const path = escape(base)
  return `${opening(path, cookies)}<meta name="archivolt-module" content="${escape(module)}">
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
