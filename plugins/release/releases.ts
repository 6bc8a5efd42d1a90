/**
 * The service `releases` and the task version_check: looks for a newer version at a configured address, and stores the
 * result.
 */
import { type AppOf, type App as CoreApp, defineTask, errors, say, Type, withLimit } from 'archivolt'

type App = AppOf<'release'>

const LIMIT_MS = 20_000
const MOST_BYTES = 1 << 20

export const versionCheck = defineTask({
  name: 'version_check',
  title: 'Look for new Version',
  payload: Type.Object({}),
  lane: 'light',
  unique: true,
  silent: true,
  schedule: { auto: '0 11 *', initially: 'random' },
  async run(job, app: App) {
    const url = app.settings.releasesUrl
    if (url === null) return null
    const latest = await withLimit(LIMIT_MS, job.signal, (signal) => latestVersion(url, signal))
    await app.releases.found(latest)
    if (!isNewer(latest, app.version)) return null
    await app.jobs.notify({
      title: 'New version',
      group: 'setting:application',
      level: 'info',
      messages: [say`Archivolt ${{ latest }} is available; this is ${{ version: app.version }}`],
    })
    return latest
  },
})

export const latestTable = {
  number: 1,
  sql: 'CREATE TABLE release_latest (id INTEGER PRIMARY KEY CHECK (id = 1), version TEXT NOT NULL) STRICT',
}

/** Earlier versions of the plugin library stored the version here. If that plugin never ran, this table is missing. */
const FORMER_TABLE = 'library_release'

export function openReleases({ ledger, settings, version: own }: CoreApp) {
  const isTable = (name: string) => ledger.sql('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined
  const versionIn = (table: string) => ledger.sql<{ version: string }>(`SELECT version FROM ${table}`).get()?.version
  // Cached, because every request to /api/ping/ reads it.
  let latest = versionIn('release_latest') ?? (isTable(FORMER_TABLE) ? versionIn(FORMER_TABLE) : undefined)
  return {
    /** The newest known version, if it is newer than this one. */
    newer(): { version: string; isBreaking: boolean } | undefined {
      if (latest === undefined || settings.releasesUrl === null || !isNewer(latest, own)) return undefined
      return { version: latest, isBreaking: majorOf(latest) > majorOf(own) }
    },
    async found(version: string): Promise<void> {
      if (version === latest) return
      await ledger.write(() =>
        ledger
          .sql(
            'INSERT INTO release_latest (id, version) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version',
          )
          .run(version),
      )
      latest = version
    },
  }
}

export type Releases = ReturnType<typeof openReleases>

async function latestVersion(url: string, signal: AbortSignal): Promise<string> {
  let text: string
  try {
    const response = await fetch(url, { signal, headers: { accept: 'application/json' } })
    if (!response.ok) throw new Error(`the answer was ${response.status}`)
    text = await readSome(response)
  } catch (cause) {
    throw errors.unavailable('The list of releases cannot be read now', { cause })
  }
  const version = versionOf(text)
  if (version === undefined)
    throw errors.unprocessable(
      'The list of releases does not name a version: JSON with `version` or `tag_name` is expected',
    )
  return version
}

async function readSome(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const VERSION = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?([-+][0-9A-Za-z.+-]{1,60})?$/

function versionOf(text: string): string | undefined {
  let release: unknown
  try {
    release = JSON.parse(text)
  } catch {
    return undefined
  }
  const { version, tag_name: tag } = (release ?? {}) as { version?: unknown; tag_name?: unknown }
  return [version, tag].find((one): one is string => typeof one === 'string' && VERSION.test(one))
}

const majorOf = (version: string): number => Number(VERSION.exec(version)?.[1] ?? 0)

/** Compares versions by their numbers; a pre-release (`1.2.0-rc.1`) is older than its release. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => VERSION.exec(text))
  if (!a || !b) return false
  for (const at of [1, 2, 3]) {
    const difference = Number(a[at] ?? 0) - Number(b[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return (b[4]?.startsWith('-') ?? false) && !(a[4]?.startsWith('-') ?? false)
}
