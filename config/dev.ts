/**
 * `make dev`: runs the server from its sources and restarts it after each change in them, or in a plugin of
 * AV_PLUGINS_DIR. The page is rebuilt separately.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPage } from './build-page.ts'
import { runWatched } from './cli/watch.ts'
import { readCore, readSources } from './load-settings.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const sources = readSources()
await buildPage({ isWatching: true })
await runWatched({
  roots: [...['core', 'config', 'plugins'].map((name) => join(ROOT, name)), ...readCore(sources).pluginsDir],
  except: join(ROOT, 'plugins/web/page'),
  args: [join(ROOT, 'config/cli/main.ts')],
  env: sources.env,
})
