/** Routes of the page's document and of the built files. */
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type App,
  type BuiltPage,
  bytes,
  DAY_SECONDS,
  defineRoute,
  errors,
  file,
  ID_PATTERN,
  json,
  type Route,
  Type,
} from 'archivolt'
import Negotiator from 'negotiator'
import { ADDRESSES } from './addresses.ts'
import { PAGE_POLICY, PLUGIN_PAGE_POLICY } from './content-policy.ts'
import { type Built, toDocument, toPluginDocument, type Wishes } from './document.ts'

/** Tests and `make dev` run from the sources, with the page that `make build` has built. */
const isSource = import.meta.url.endsWith('.ts')
const FOLDER = fileURLToPath(new URL(isSource ? '../../dist/plugins/web/static/' : './static/', import.meta.url))
const LONGEST_NAME = 100

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  webmanifest: 'application/manifest+json',
}

/**
 * Read for each request, which takes 0.1 ms, because the page may have been rebuilt.
 * @throws unavailable  the page has not been built
 */
function built(): Built {
  try {
    return JSON.parse(readFileSync(join(FOLDER, 'built.json'), 'utf8')) as Built
  } catch (cause) {
    throw errors.unavailable('The page has not been built; run `make build`', { cause })
  }
}

const wishesOf = (headers: IncomingHttpHeaders): Wishes => ({
  cookies: headers['cookie'] ?? '',
  accepted: headers['accept-language'] ?? '',
})

/** Accepts any text: it may be a handle, and the view reports unknown ones. */
const paramsOf = (path: string) =>
  Type.Object(
    Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, Type.String({ pattern: '^[^/]+$' })])),
  )

const toRoute = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    access: 'open',
    summary: `The page at ${path}`,
    params: paramsOf(path),
    reply: Type.String(),
    replyType: 'text/html',
    ...(path === '/' && {
      query: {
        videoId: Type.Optional(
          Type.String({ pattern: ID_PATTERN, description: 'redirects to the page of this video' }),
        ),
      },
    }),
    handle(input, app) {
      const { videoId } = input.query as { videoId?: string }
      return videoId === undefined ? sendDocument(path, input, app) : redirectTo(`video/${videoId}/`, input, app)
    },
  })

/** 302, because a later version may redirect elsewhere. */
function redirectTo(path: string, { headers }: Pick<Parameters<Route['handle']>[0], 'headers'>, { settings }: App) {
  headers.set('Location', settings.basePath + path)
  return json('{}', 302)
}

/** Addresses of the reference's page, which people may have bookmarked, and the corresponding views here. */
const FORMER: Record<string, string> = {
  '/about/': 'settings/',
  '/channel/': 'channels/',
  '/playlist/': 'playlists/',
  ...Object.fromEntries(
    ['about', 'playlist', 'shorts', 'streams'].map((part) => [`/channel/:channelId/${part}/`, 'channel/:channelId/']),
  ),
}

export const formerRoutes = Object.entries(FORMER).map(([path, to]) =>
  defineRoute({
    method: 'GET',
    path,
    access: 'open',
    summary: `Redirects to /${to}`,
    params: paramsOf(path),
    reply: Type.Object({}, { description: 'empty; the header Location has the new address' }),
    status: 302,
    handle(input, app) {
      const { channelId = '' } = input.params as { channelId?: string }
      return redirectTo(to.replace(':channelId', encodeURIComponent(channelId)), input, app)
    },
  }),
)

function sendDocument(
  address: string,
  { headers, request }: Pick<Parameters<Route['handle']>[0], 'headers' | 'request'>,
  { settings, accounts, plugins, preferences }: App,
) {
  headers.set('Content-Security-Policy', PAGE_POLICY)
  headers.set('Cache-Control', 'no-cache')
  headers.set('Vary', 'Accept-Language, Cookie')
  return bytes(
    toDocument(built(), {
      address,
      base: settings.basePath,
      wishes: wishesOf(request.headers),
      isUnused: accounts.isUnused(),
      isWelcomeDue: !preferences.section('page').welcomed,
      hasPluginPages: plugins.pages.length > 0,
      leftOut: plugins.list().flatMap(({ name, isBuiltIn, isOn }) => (isBuiltIn && !isOn ? [name] : [])),
    }),
    'text/html; charset=utf-8',
  )
}

export const pageRoutes = ADDRESSES.map(toRoute)

/** Paths used by programs, which expect a 404 as JSON. */
const OF_PROGRAMS = /^(api|media|cache|assets|icons|health|plugin-page)(\/|$)/

/** An unknown address: browsers get the page, which says that nothing is there. */
export const showNothing = defineRoute({
  method: 'GET',
  path: '/*',
  access: 'open',
  summary: 'The page at an unknown address',
  params: Type.Object({ '*': Type.String({ pattern: '^' }) }),
  reply: Type.String(),
  replyType: 'text/html',
  status: 404,
  handle(input, app) {
    const isPerson = /\btext\/html\b/.test(input.request.headers['accept'] ?? '')
    if (!isPerson || OF_PROGRAMS.test(input.params['*'])) throw errors.notFound('path')
    return sendDocument('/*', input, app)
  },
})

const FileName = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$', maxLength: LONGEST_NAME })

/** Cached for good, because the names contain a hash of the content. */
export const showAsset = defineRoute({
  method: 'GET',
  path: '/assets/:file',
  access: 'open',
  summary: 'A script or style of the page',
  params: Type.Object({ file: FileName }),
  reply: Type.String(),
  replyType: 'text/javascript',
  handle({ params, request, headers }) {
    const { assets } = built()
    const known = Object.hasOwn(assets, params.file) ? assets[params.file] : undefined
    if (!known) throw errors.notFound('file', params.file)
    headers.set('Vary', 'Accept-Encoding')
    headers.set('Access-Control-Allow-Origin', '*') // frames of plugin pages have another origin
    headers.set('Cross-Origin-Resource-Policy', 'cross-origin')
    const encoding = chosenEncoding(request.headers, known)
    if (encoding) headers.set('Content-Encoding', encoding === 'br' ? 'br' : 'gzip')
    return file(join(FOLDER, 'assets', params.file + (encoding ? `.${encoding}` : '')), typeOf(params.file), {
      immutable: true,
    })
  },
})

export const showIcon = defineRoute({
  method: 'GET',
  path: '/icons/:file',
  access: 'open',
  summary: 'The logo of Archivolt',
  params: Type.Object({ file: FileName }),
  reply: Type.String(),
  replyType: 'image/png',
  handle({ params }) {
    if (!built().icons.includes(params.file)) throw errors.notFound('file', params.file)
    return file(join(FOLDER, 'icons', params.file), typeOf(params.file), { maxAgeSeconds: DAY_SECONDS })
  },
})

/** The service worker is at the root of the page, so that its scope is the whole page; revalidated at each visit. */
export const showServiceWorker = defineRoute({
  method: 'GET',
  path: '/service-worker.js',
  access: 'open',
  summary: 'The service worker, which opens the page when the server cannot be reached',
  reply: Type.String(),
  replyType: 'text/javascript',
  handle: () => (built(), file(join(FOLDER, 'service-worker.js'), TYPES['js']!, { maxAgeSeconds: 0 })),
})

export const showManifest = defineRoute({
  method: 'GET',
  path: '/manifest.webmanifest',
  access: 'open',
  summary: 'The manifest for installing the page on a home screen',
  reply: Type.Object({}),
  replyType: 'application/manifest+json',
  handle: () => (
    built(), file(join(FOLDER, 'manifest.webmanifest'), TYPES['webmanifest']!, { maxAgeSeconds: DAY_SECONDS })
  ),
})

const PluginName = Type.String({ pattern: '^[a-z][a-z0-9]*$', maxLength: LONGEST_NAME })

/** The document contains nothing personal: the surrounding page requests what the account may see. */
const pluginFrame = (place: BuiltPage['place'], path: string, summary: string) =>
  defineRoute({
    method: 'GET',
    path,
    access: 'open',
    summary,
    params: Type.Object({ plugin: PluginName }),
    reply: Type.String(),
    replyType: 'text/html',
    handle({ params, request, headers }, { plugins, settings }) {
      const page = plugins.pages.find((one) => one.plugin === params.plugin && one.place === place)
      if (!page) throw errors.notFound('page', params.plugin)
      headers.set('Content-Security-Policy', PLUGIN_PAGE_POLICY)
      headers.set('X-Frame-Options', 'SAMEORIGIN')
      headers.set('Cache-Control', 'no-cache')
      headers.set('Vary', 'Accept-Language, Cookie')
      return bytes(
        toPluginDocument(built(), {
          base: settings.basePath,
          wishes: wishesOf(request.headers),
          title: page.title,
          module: `${settings.basePath}plugin-page/${page.plugin}/${page.file}`,
        }),
        'text/html; charset=utf-8',
      )
    },
  })

export const showPluginPage = pluginFrame(
  'navigation',
  '/plugin-page/:plugin/',
  'The document in the frame of a plugin’s page',
)
export const showPluginButton = pluginFrame(
  'player',
  '/plugin-page/:plugin/player/',
  'The document in the frame of a plugin’s player button',
)

/** Cached for good, because the name contains a hash of the content. */
export const showPluginModule = defineRoute({
  method: 'GET',
  path: '/plugin-page/:plugin/:file',
  access: 'open',
  summary: 'The module of a plugin’s page or button',
  params: Type.Object({ plugin: PluginName, file: FileName }),
  reply: Type.String(),
  replyType: 'text/javascript',
  handle({ params, headers }, { plugins }) {
    const page = plugins.pages.find(({ plugin, file: own }) => plugin === params.plugin && own === params.file)
    if (!page) throw errors.notFound('file', params.file)
    headers.set('Cache-Control', 'public, max-age=31536000, immutable')
    headers.set('Access-Control-Allow-Origin', '*')
    return bytes(page.code, TYPES['js']!)
  },
})

const typeOf = (name: string): string => TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'

/** The smallest encoding that the client accepts. */
function chosenEncoding(headers: IncomingHttpHeaders, there: ReadonlyArray<'br' | 'gz'>): 'br' | 'gz' | undefined {
  const taken = new Negotiator({ headers }).encodings(['br', 'gzip'])
  return there.find((form) => taken.includes(form === 'gz' ? 'gzip' : form))
}
