/** find-my-way: path → what stands there. Two owners of one method and path stop the start. */
import findMyWay from 'find-my-way'
import { errors } from '../error.ts'
import type { Method, Route } from '../plugin/define.ts'
import { ID_PATTERN } from './decode.ts'
import { hasOwnForm, isValid } from './check.ts'

export interface Match {
  /** undefined: the path is known, the method is not (405), or OPTIONS. */
  route: Route | undefined
  /** Checked. */
  params: Record<string, string>
  /** For `Allow`. */
  methods: string[]
}

export interface Router {
  /**
   * @param path  as received, without its query
   * @returns undefined: nothing stands there, or a variable has a form that it may not have (404)
   * @throws bad_request  malformed percent-encoding
   */
  match(method: string, path: string): Match | undefined
}

/** One path, whatever its variables are called: a literal path owns all its methods, so it is looked up as one thing. */
interface Place {
  byMethod: Map<Method, { route: Route; names: string[] }>
  methods: string[]
}

const ID = new RegExp(ID_PATTERN)
/** The longest id and a file's endings. Longer ones are no path of ours. */
const LONGEST_VARIABLE = 160
const VARIABLE = /:([A-Za-z_]\w*)/g
const PATH = /^\/(?:(?:[\w.~-]|:[A-Za-z_])+\/?)*(?:\*)?$/

/** `/api/a/:id/` and `/api/a/:name` are one place. */
const placeOf = (path: string): string => {
  let count = 0
  return path.replace(VARIABLE, () => `:p${count++}`).replace(/(?<=.)\/$/, '')
}

/**
 * Called while plugins are loaded.
 * @throws Error  naming both owners of one (method, path), or the owner of a path that cannot be
 */
export function checkOwners(owned: Iterable<{ owner: string; route: Route }>): void {
  const owners = new Map<string, string>()
  for (const { owner, route } of owned) {
    if (!PATH.test(route.path)) throw new Error(`Plugin ${owner}: ${route.path} is not a path; it starts with / and has letters, digits, - _ . and :variables`)
    const key = `${route.method} ${placeOf(route.path)}`
    const other = owners.get(key)
    if (other !== undefined) throw new Error(`Plugins ${other} and ${owner} both own ${route.method} ${route.path}`)
    owners.set(key, owner)
  }
}

/** @param basePath  starts and ends with `/`; paths of routes stand below it */
export function openRouter(routes: readonly Route[], basePath = '/'): Router {
  checkOwners(routes.map((route) => ({ owner: `of ${route.path}`, route })))
  const tree = findMyWay({ ignoreTrailingSlash: true, maxParamLength: LONGEST_VARIABLE, caseSensitive: true })
  const places = new Map<string, Place>()
  for (const route of routes) {
    const path = placeOf(route.path)
    const place = places.get(path) ?? { byMethod: new Map(), methods: [] }
    if (!places.has(path)) {
      places.set(path, place)
      tree.on('GET', path, () => undefined, place)
    }
    const names = [...route.path.matchAll(VARIABLE)].map(([, name]) => name!)
    place.byMethod.set(route.method, { route, names })
    place.methods = allowed(place.byMethod)
  }

  return {
    match(method, path) {
      if (path.includes('%')) refuseMalformed(path)
      const below = belowBase(path, basePath)
      const found = below === undefined ? null : tree.find('GET', below)
      if (!found) return undefined
      const place = found.store as Place
      const entry = place.byMethod.get((method === 'HEAD' ? 'GET' : method) as Method)
      if (!entry) return { route: undefined, params: {}, methods: place.methods }
      const params = readParams(entry.route, entry.names, found.params)
      return params && { route: entry.route, params, methods: place.methods }
    },
  }
}

function allowed(byMethod: Place['byMethod']): string[] {
  const methods: string[] = [...byMethod.keys()]
  if (byMethod.has('GET')) methods.push('HEAD')
  return [...methods, 'OPTIONS'].sort()
}

function belowBase(path: string, basePath: string): string | undefined {
  if (basePath === '/') return path
  if (path.startsWith(basePath)) return path.slice(basePath.length - 1)
  return `${path}/` === basePath ? '/' : undefined
}

function refuseMalformed(path: string): void {
  try {
    decodeURIComponent(path)
  } catch (cause) {
    throw errors.badRequest('The path is not properly percent-encoded', { cause })
  }
}

/** A variable is an id, unless the route says what else it may be. */
function readParams(route: Route, names: string[], found: Record<string, string | undefined>): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [position, name] of names.entries()) {
    const text = found[`p${position}`] ?? ''
    const form = route.params?.properties[name]
    if (form && hasOwnForm(form) ? !isValid(form, text) : !ID.test(text)) return undefined
    params[name] = text
  }
  const rest = found['*']
  if (rest !== undefined) {
    const form = route.params?.properties['*']
    if (!form || !isValid(form, rest)) return undefined
    params['*'] = rest
  }
  return params
}
