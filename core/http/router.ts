/** Finds the route of a path, with find-my-way. */
import findMyWay from 'find-my-way'
import { isId } from '../base/id.ts'
import { isValid } from '../base/validation.ts'
import type { Method, Route } from '../plugin/define.ts'
import { hasOwnForm } from './check.ts'
import { valueOf } from './query.ts'

export interface Match {
  /** undefined: the path exists, but not with this method (405), or the method is OPTIONS. */
  route: Route | undefined
  params: Record<string, unknown>
  /** The value of `Allow`. */
  methods: string[]
}

/** All methods of one path pattern, whatever its variables are called. A known path answers 405 to other methods. */
interface PathMethods {
  byMethod: Map<Method, { route: Route; names: string[] }>
  methods: string[]
}

/** Long enough for the longest id with file extensions; a path with a longer variable has no route. */
const LONGEST_VARIABLE = 160
const VARIABLE = /:([A-Za-z_]\w*)/g
/** A route with this path answers reads that no other route matches. */
const ANYWHERE = '/*'

/** The same for `/api/a/:id/` and `/api/a/:name`. */
const patternOf = (path: string): string => {
  let count = 0
  return path.replace(VARIABLE, () => `:p${count++}`).replace(/(?<=.)\/$/, '')
}

/** @param basePath  begins and ends with `/`. @throws Error  a route twice, which the loader reports earlier */
export function openRouter(routes: readonly Route[], basePath: string) {
  const byPattern = new Map<string, PathMethods>()
  const anywhere = routes.find(({ method, path }) => method === 'GET' && path === ANYWHERE)
  for (const route of routes) {
    if (route === anywhere) continue
    const path = patternOf(route.path)
    const known = byPattern.get(path) ?? { byMethod: new Map(), methods: [] }
    byPattern.set(path, known)
    if (known.byMethod.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`)
    const names = [...route.path.matchAll(VARIABLE)].map(([, name]) => name!)
    known.byMethod.set(route.method, { route, names })
    known.methods = allowed(known.byMethod)
  }
  const tree = treeOf([...byPattern.keys()])

  const known = (method: string, below: string): Match | undefined => {
    const found = tree.find('GET', below)
    if (!found) return undefined
    const known = byPattern.get(found.store as string)!
    const entry = known.byMethod.get((method === 'HEAD' ? 'GET' : method) as Method)
    if (!entry) return { route: undefined, params: {}, methods: known.methods }
    const params = readParams(entry.route, entry.names, found.params)
    return params && { route: entry.route, params, methods: known.methods }
  }

  const elsewhere = (method: string, below: string): Match | undefined => {
    const isRead = method === 'GET' || method === 'HEAD'
    const params = anywhere && isRead ? readParams(anywhere, [], { '*': below.slice(1) }) : undefined
    return params && { route: anywhere, params, methods: ['GET', 'HEAD', 'OPTIONS'] }
  }

  return {
    /** @param path  without its query. @returns undefined: no such path, or a malformed variable (404) */
    match(method: string, path: string): Match | undefined {
      const below = belowBase(path, basePath)
      return below === undefined ? undefined : (known(method, below) ?? elsewhere(method, below))
    },
  }
}

type Tree = ReturnType<typeof findMyWay>
let last: { key: string; tree: Tree } | undefined

/** The `store` of a match is its pattern. The last tree is cached: a test process opens one server after another. */
function treeOf(paths: readonly string[]): Tree {
  const key = paths.join('\n')
  if (last?.key === key) return last.tree
  const tree = findMyWay({ ignoreTrailingSlash: true, maxParamLength: LONGEST_VARIABLE, caseSensitive: true })
  for (const path of paths) tree.on('GET', path, () => undefined, path)
  last = { key, tree }
  return tree
}

function allowed(byMethod: PathMethods['byMethod']): string[] {
  const methods: string[] = [...byMethod.keys()]
  if (byMethod.has('GET')) methods.push('HEAD')
  return [...methods, 'OPTIONS'].sort()
}

/** undefined: outside the base path. People end an address with a slash, and their app adds another one. */
export function belowBase(path: string, basePath: string): string | undefined {
  if (path.startsWith(basePath)) return path.slice(basePath.length - 1).replace(/^\/{2,}/, '/')
  return `${path}/` === basePath ? '/' : undefined
}

/** A variable must have the form that the route declares; a text must be an id, unless the form itself limits texts. */
function readParams(
  route: Route,
  names: string[],
  found: Record<string, string | undefined>,
): Record<string, unknown> | undefined {
  const params: Record<string, unknown> = {}
  for (const [position, name] of names.entries()) {
    const text = found[`p${position}`] ?? ''
    const form = route.params?.properties[name]
    const value = form ? valueOf(form, text) : text
    if (form && !isValid(form, value)) return undefined
    if (value === text && !(form && hasOwnForm(form)) && !isId(text)) return undefined
    params[name] = value
  }
  const rest = found['*']
  if (rest !== undefined) {
    const form = route.params?.properties['*']
    if (!form || !isValid(form, rest)) return undefined
    params['*'] = rest
  }
  return params
}
