/** Finds query parameters of the page that no route declares: the server ignores them, so no other test notices. */
import type { APIRequestContext } from 'playwright-core'

type Paths = Record<string, Record<string, { parameters: Array<{ in: string; name: string }> }>>

/**
 * @param urls  of GET requests
 * @returns `parameter of path`, each once
 */
export async function undeclaredParameters(
  urls: readonly string[],
  root: string,
  request: APIRequestContext,
): Promise<string[]> {
  const asked = urls.filter((url) => url.startsWith(`${root}/api/`) && url.includes('?'))
  const { paths } = (await (await request.get(`${root}/api/schema/`)).json()) as { paths: Paths }
  const found = asked.flatMap((url) => {
    const [path = '', query] = url.slice(root.length).split('?')
    const routes = Object.entries(paths).filter(([template]) => patternOf(template).test(path))
    // Fixed segments win over variables.
    const route = routes.find(([template]) => template === path) ?? routes[0]
    const declared = new Set(route?.[1]['get']?.parameters.map(({ name }) => name))
    return route
      ? [...new URLSearchParams(query).keys()]
          .filter((name) => !declared.has(name))
          .map((name) => `${name} of ${route[0]}`)
      : []
  })
  return [...new Set(found)]
}

const patternOf = (template: string): RegExp => new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`)
