/** What of people's settings yt-dlp does not take: it is refused when it is set, in yt-dlp's words. */
import { isIP } from 'node:net'
import { type Clock, type Log, maskCredentials, type Preferences } from 'archivolt'
import { Child, ChildError, type Launch } from './child.ts'
import { type Route, routeOf, UNSET_ROUTE } from './network-route.ts'

const JUDGE_MS = 60_000

/** Settings of yt-dlp in the worker's words: what its `judge` knows. */
export interface Judged extends Route {
  format?: string
  formatSort?: string
}

interface JudgeParts {
  clock: Clock
  log: Log
  launch: () => Promise<Launch>
}

/**
 * Why yt-dlp does not take some of these settings, in its own words. Where it cannot be asked, nothing is refused: what
 * it lacks is told elsewhere.
 */
export async function refusalsOf(
  settings: Judged,
  { clock, log, launch }: JudgeParts,
): Promise<{ [Key in keyof Judged]?: string }> {
  if (Object.keys(settings).length === 0) return {}
  const child = new Child(await launch(), clock, log)
  try {
    const { result } = await child.ask({ op: 'judge', settings }, { quietMs: JUDGE_MS })
    const refused = result.refused as Record<string, string>
    return Object.fromEntries(Object.entries(refused).map(([key, words]) => [key, maskCredentials(words)]))
  } catch (error) {
    if (!(error instanceof ChildError)) throw error
    log.warn({ err: error }, 'yt-dlp could not be asked whether it takes a setting')
    return {}
  } finally {
    await child.end()
  }
}

/** Has yt-dlp judge what people set, before it is set. */
export function judgePreferences(
  preferences: Pick<Preferences, 'section' | 'judge'>,
  refusals: (settings: Judged) => ReturnType<typeof refusalsOf>,
) {
  preferences.judge('platform', async (changed) => {
    const set = { ...preferences.section('platform'), ...changed }
    const family = set.source_address && isIP(set.source_address)
    if (family === 0) return { source_address: 'must be an IP address of this machine' }
    if (family && set.ip_version !== 'any' && Number(set.ip_version) !== family)
      return {
        [changed.source_address ? 'source_address' : 'ip_version']:
          `${set.source_address} is no IPv${set.ip_version} address`,
      }
    const refused = await refusals(routeOf({ ...UNSET_ROUTE, ...changed }))
    return renamed(refused, {
      proxy: 'proxy',
      sourceAddress: 'source_address',
      ipVersion: 'ip_version',
      clients: 'player_clients',
      tokenProvider: 'token_provider',
    })
  })
  preferences.judge('downloads', async ({ format, format_sort: formatSort }) =>
    renamed(await refusals(formatsOf({ format, formatSort })), {
      format: 'format',
      formatSort: 'format_sort',
    }),
  )
}

/** Those that are set. */
export const formatsOf = ({
  format,
  formatSort,
}: { [Key in 'format' | 'formatSort']?: string | false | undefined }) => ({
  ...(format && { format }),
  ...(formatSort && { formatSort }),
})

const renamed = (words: Record<string, string>, names: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(words).map(([key, text]) => [names[key] ?? key, text]))
