/**
 * `make dev`: runs the server from its sources and restarts it after each change in them, or in a plugin of
 * AV_PLUGINS_DIR. The page is rebuilt separately.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runWatched } from '../core/cli/watch.ts'
import { buildPage } from './build-page.ts'
import { readCore, readSources } from './load-settings.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const sources = readSources()
await buildPage({ isWatching: true })
await runWatched({
  roots: [...['core', 'config', 'plugins'].map((name) => join(ROOT, name)), ...readCore(sources).pluginsDir],
  except: join(ROOT, 'plugins/web/page'),
  args: [join(ROOT, 'core/cli/main.ts')],
  env: sources.env,
})
