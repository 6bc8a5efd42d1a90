/** Refuses preferences that yt-dlp does not accept, with yt-dlp's own message. */
import { isIP } from 'node:net'
import { type Clock, type Log, maskCredentials, type Preferences } from 'archivolt'
import { ChildError, type Launch, withChild } from './child.ts'
import { type Route, routeOf, UNSET_ROUTE } from './network-route.ts'

const JUDGE_MS = 60_000

/** The settings that the worker's `judge` can check. */
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
 * Why yt-dlp does not accept some of these settings, in its own words. If yt-dlp cannot be started, nothing is refused,
 * and the reason is reported elsewhere.
 */
export async function refusalsOf(
  settings: Judged,
  { clock, log, launch }: JudgeParts,
): Promise<{ [Key in keyof Judged]?: string }> {
  if (Object.keys(settings).length === 0) return {}
  try {
    const { result } = await withChild(await launch(), clock, log, (child) =>
      child.ask({ op: 'judge', settings }, { quietMs: JUDGE_MS }),
    )
    const refused = result.refused as Record<string, string>
    return Object.fromEntries(Object.entries(refused).map(([key, words]) => [key, maskCredentials(words)]))
  } catch (error) {
    if (!(error instanceof ChildError)) throw error
    log.warn({ err: error }, 'yt-dlp could not check a setting')
    return {}
  }
}

/** Lets yt-dlp check preferences before they are changed. */
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
          `${set.source_address} is not an IPv${set.ip_version} address`,
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

/** The formats that are set in these preferences. */
export const formatsOf = ({
  format,
  formatSort,
}: { [Key in 'format' | 'formatSort']?: string | false | undefined }) => ({
  ...(format && { format }),
  ...(formatSort && { formatSort }),
})

const renamed = (words: Record<string, string>, names: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(words).map(([key, text]) => [names[key] ?? key, text]))
