/** Finds the route of a path, by find-my-way. */
import findMyWay from 'find-my-way'
import { isId } from '../id.ts'
import type { Method, Route } from '../plugin/define.ts'
import { isValid } from '../validation.ts'
import { hasOwnForm } from './check.ts'

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
   * @returns undefined: nothing stands there, or a variable has a form that it may not have, such as half a percent
   *          sign (404)
   */
  match(method: string, path: string): Match | undefined
}

/** All methods of one path, whatever its variables are called: a path that exists answers 405 to its other methods. */
interface Place {
  byMethod: Map<Method, { route: Route; names: string[] }>
  methods: string[]
}

/** Room for the longest id and a file's endings; nothing longer is a path of ours. */
const LONGEST_VARIABLE = 160
const VARIABLE = /:([A-Za-z_]\w*)/g
/** A route of this path answers what no other does, to those who only read. */
const ANYWHERE = '/*'

/** `/api/a/:id/` and `/api/a/:name` are one place. */
const placeOf = (path: string): string => {
  let count = 0
  return path.replace(VARIABLE, () => `:p${count++}`).replace(/(?<=.)\/$/, '')
}

/**
 * @param basePath  starts and ends with `/`; paths of routes stand below it
 * @throws Error  two routes for one method and path (the loader says so earlier, with their plugins' names)
 */
export function openRouter(routes: readonly Route[], basePath = '/'): Router {
  const places = new Map<string, Place>()
  const anywhere = routes.find(({ method, path }) => method === 'GET' && path === ANYWHERE)
  for (const route of routes) {
    if (route === anywhere) continue
    const path = placeOf(route.path)
    const place = places.get(path) ?? { byMethod: new Map(), methods: [] }
    places.set(path, place)
    if (place.byMethod.has(route.method)) throw new Error(`${route.method} ${route.path} is there twice`)
    const names = [...route.path.matchAll(VARIABLE)].map(([, name]) => name!)
    place.byMethod.set(route.method, { route, names })
    place.methods = allowed(place.byMethod)
  }
  const tree = treeOf([...places.keys()])

  const known = (method: string, below: string): Match | undefined => {
    const found = tree.find('GET', below)
    if (!found) return undefined
    const place = places.get(found.store as string)!
    const entry = place.byMethod.get((method === 'HEAD' ? 'GET' : method) as Method)
    if (!entry) return { route: undefined, params: {}, methods: place.methods }
    const params = readParams(entry.route, entry.names, found.params)
    return params && { route: entry.route, params, methods: place.methods }
  }

  const elsewhere = (method: string, below: string): Match | undefined => {
    const isRead = method === 'GET' || method === 'HEAD'
    const params = anywhere && isRead ? readParams(anywhere, [], { '*': below.slice(1) }) : undefined
    return params && { route: anywhere, params, methods: ['GET', 'HEAD', 'OPTIONS'] }
  }

  return {
    match(method, path) {
      const below = belowBase(path, basePath)
      return below === undefined ? undefined : (known(method, below) ?? elsewhere(method, below))
    },
  }
}

type Tree = ReturnType<typeof findMyWay>
let last: { key: string; tree: Tree } | undefined

/** Answers the path as a match's `store`. The last one is kept for a process that opens one server after another. */
function treeOf(paths: readonly string[]): Tree {
  const key = paths.join('\n')
  if (last?.key === key) return last.tree
  const tree = findMyWay({ ignoreTrailingSlash: true, maxParamLength: LONGEST_VARIABLE, caseSensitive: true })
  for (const path of paths) tree.on('GET', path, () => undefined, path)
  last = { key, tree }
  return tree
}

function allowed(byMethod: Place['byMethod']): string[] {
  const methods: string[] = [...byMethod.keys()]
  if (byMethod.has('GET')) methods.push('HEAD')
  return [...methods, 'OPTIONS'].sort()
}

/**
 * The path as routes have it; undefined: it lies elsewhere. People end the address that they give an app with a slash,
 * and the app begins its path with another.
 */
export function belowBase(path: string, basePath: string): string | undefined {
  if (path.startsWith(basePath)) return path.slice(basePath.length - 1).replace(/^\/{2,}/, '/')
  return `${path}/` === basePath ? '/' : undefined
}

/** A variable is an id, unless the route says what else it may be. */
function readParams(
  route: Route,
  names: string[],
  found: Record<string, string | undefined>,
): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [position, name] of names.entries()) {
    const text = found[`p${position}`] ?? ''
    const form = route.params?.properties[name]
    if (form && hasOwnForm(form) ? !isValid(form, text) : !isId(text)) return undefined
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
