/** The health of each part of the downloader, for `GET /api/platform/` (contract, appendix B). */
import { DAY_SECONDS, epochSeconds, type Static, Type, type Words } from 'archivolt'
import type { App } from './app.ts'
import { BudgetState } from './budget.ts'
import type { ChallengeReport } from './challenge.ts'
import type { PlatformService } from './platform.ts'
import { TokenHealth } from './token-provider.ts'
import type { ToolReport } from './tools.ts'
import type { CookieHealth } from './types.ts'
import { isNewer } from './update.ts'
import { updateDownloader } from './update-downloader.ts'

const Epoch = Type.Integer({ minimum: 0 })
const Count = Type.Integer({ minimum: 0 })

export const Health = Type.Object({
  runtime: Type.Object({
    state: Type.Enum(['works', 'missing', 'failed', 'wrong_answer', 'untried']),
    name: Type.String(),
    version: Type.String(),
    solved_ms: Count,
    checked: Epoch,
    message: Type.String(),
  }),
  solver: Type.Object({
    state: Type.Enum(['works', 'missing', 'differs', 'lost', 'untried']),
    version: Type.String(),
    wanted: Type.String(),
  }),
  downloader: Type.Object({
    state: Type.Enum(['current', 'updating', 'refused', 'failed', 'old', 'missing']),
    version: Type.String(),
    age_days: Count,
    checked: Epoch,
    next_check: Epoch,
    tried: Type.String(),
    message: Type.String(),
  }),
  token_provider: TokenHealth,
  budget: Type.Object({ address: BudgetState, cookie: Type.Union([BudgetState, Type.Null()]) }),
  cookie: Type.Object({
    state: Type.Enum(['none', 'off', 'untried', 'valid', 'invalid']),
    stored: Epoch,
    ended: Epoch,
    checked: Epoch,
    lived: Type.Array(Count),
  }),
})
type Health = Static<typeof Health>
/** The health with translatable texts, before their conversion to English. */
type Told = Omit<Health, 'downloader'> & { downloader: Omit<Health['downloader'], 'message'> & { message: Words } }

/** The age from which yt-dlp itself warns that it is old. */
const OLD_DAYS = 90

export const isUpdating = ({ jobs }: App): boolean => jobs.active(updateDownloader.name) !== undefined

interface Seen {
  report: ToolReport
  /** undefined: not known (yet) */
  challenge: ChallengeReport | undefined
  /** Whether an update was running when the report began: the report may then be outdated. */
  wasUpdating: boolean
}

export const NO_COOKIE: CookieHealth = { state: 'none', stored: 0, ended: 0, checked: 0, lived: [] }

export function healthOf(app: App, { report, challenge, wasUpdating }: Seen): Told {
  const platform = app.platform as PlatformService
  return {
    ...challengeHealth(challenge),
    downloader: downloaderHealth(app, report, wasUpdating),
    token_provider: platform.tokens.health(),
    budget: platform.budgets(),
    cookie: app.hook('platform.cookie')[0]?.() ?? NO_COOKIE,
  }
}

function challengeHealth(challenge: ChallengeReport | undefined): Pick<Health, 'runtime' | 'solver'> {
  if (!challenge)
    return {
      runtime: { state: 'untried', name: '', version: '', solved_ms: 0, checked: 0, message: '' },
      solver: { state: 'untried', version: '', wanted: '' },
    }
  const { state, name, version, milliseconds, message } = challenge.runtime
  return {
    runtime: { state, name, version, solved_ms: milliseconds, checked: challenge.checked, message },
    solver: challenge.solver,
  }
}

function downloaderHealth(app: App, { downloader: { version } }: ToolReport, wasUpdating: boolean): Told['downloader'] {
  const released = releaseDay(version)
  const age = released === undefined ? 0 : Math.max(0, Math.floor((epochSeconds(app.clock) - released) / DAY_SECONDS))
  const last = (app.platform as PlatformService).updates?.last()
  const next = app.settings.ytdlpUpdate === 'off' ? null : app.schedules.get(updateDownloader.name)?.next_run_at
  const state = () => {
    if (wasUpdating || isUpdating(app)) return 'updating'
    if (version === '') return 'missing'
    if (last?.outcome === 'refused' && isNewer(last.version, version)) return 'refused'
    if (last?.outcome === 'failed') return 'failed'
    return age > OLD_DAYS ? 'old' : 'current'
  }
  return {
    state: state(),
    version,
    age_days: age,
    checked: last?.checked ?? 0,
    next_check: next ? Math.floor(Date.parse(next) / 1000) : 0,
    tried: last?.version ?? '',
    message: last?.message ?? '',
  }
}

/** yt-dlp's versions are the days of their release. @returns epoch seconds */
function releaseDay(version: string): number | undefined {
  const [, year, month, day] = /^(\d{4})\.(\d{1,2})\.(\d{1,2})(?:\.|$)/.exec(version) ?? []
  return day === undefined ? undefined : Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000
}
