/** Bundles the modules of pages and buttons of external plugins for browsers, once at the start. */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { BuiltPage, Plugin, PluginPage } from '../../core/plugin/define.ts'
import { StartError } from '../../core/start-error.ts'
import { bundle, firstLine } from './bundle.ts'

/** The same browsers as for the surrounding page. */
const BROWSERS = ['chrome123', 'firefox125', 'safari17.5']
const MOST_BYTES = 5_000_000

/** @throws StartError  names the plugin and the problem with its page */
export const buildPages = (plugins: readonly Plugin[]): BuiltPage[] =>
  plugins.flatMap((plugin) => [
    ...(plugin.page ? [build(plugin, 'navigation', plugin.page)] : []),
    ...(plugin.playerButton ? [build(plugin, 'player', plugin.playerButton)] : []),
  ])

function build({ name, routes = [] }: Plugin, place: BuiltPage['place'], page: PluginPage): BuiltPage {
  const code = browserCode(name, place === 'player' ? 'its button' : 'its page', page.module)
  const own = routes.map(({ method, path }) => `${method} ${path}`).filter((one) => / \/api\//.test(one))
  return {
    plugin: name,
    place,
    title: page.title,
    access: page.access ?? 'user',
    asks: [...new Set([...own, ...(page.asks ?? [])])] as BuiltPage['asks'],
    file: `${name}-${createHash('sha256').update(code).digest('hex').slice(0, 12)}.js`,
    code,
  }
}

function browserCode(plugin: string, what: string, module: URL): string {
  let code: string
  try {
    const { outputFiles } = bundle({
      entryPoints: [fileURLToPath(module)],
      ...{ platform: 'browser', target: BROWSERS, minify: true, legalComments: 'none' },
      // Browser code may import only types from the server.
      ...{ alias: {}, external: [] },
    })
    code = outputFiles![0]!.text
  } catch (error) {
    throw new StartError(`plugin ${plugin}: ${what} cannot be built: ${firstLine(error)}`, {
      leaveOut: plugin,
      cause: error,
    })
  }
  if (code.length > MOST_BYTES)
    throw new StartError(`plugin ${plugin}: ${what} has more than ${MOST_BYTES / 1e6} MB of code`, { leaveOut: plugin })
  return code
}
