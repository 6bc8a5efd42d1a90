/** How the downloader is: what `GET /api/platform/` says of each of its parts (contract, appendix B). */
import { epochSeconds, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import type { ChallengeReport } from './challenge.ts'
import type { ToolReport } from './tools.ts'

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
    state: Type.Enum(['current', 'old', 'missing']),
    version: Type.String(),
    age_days: Count,
  }),
  cookie: Type.Object({
    state: Type.Enum(['none', 'off', 'untried', 'valid', 'invalid']),
    stored: Epoch,
    ended: Epoch,
    checked: Epoch,
    lived: Type.Array(Count),
  }),
})
type Health = Static<typeof Health>

/** From then on yt-dlp itself warns of its age. */
const OLD_DAYS = 90
const DAY_SECONDS = 86_400

/** @param challenge  undefined: it is not known, or not yet */
export function healthOf(app: App, report: ToolReport, challenge: ChallengeReport | undefined): Health {
  return {
    ...challengeHealth(challenge),
    downloader: downloaderHealth(app, report),
    cookie: app.hook('platform.cookie')[0]?.() ?? { state: 'none', stored: 0, ended: 0, checked: 0, lived: [] },
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

function downloaderHealth({ clock }: App, { downloader: { version } }: ToolReport): Health['downloader'] {
  const released = releaseDay(version)
  const age = released === undefined ? 0 : Math.max(0, Math.floor((epochSeconds(clock) - released) / DAY_SECONDS))
  return {
    state: version === '' ? 'missing' : age > OLD_DAYS ? 'old' : 'current',
    version,
    age_days: age,
  }
}

/** yt-dlp's versions are the days of their release. @returns epoch seconds */
export function releaseDay(version: string): number | undefined {
  const [, year, month, day] = /^(\d{4})\.(\d{1,2})\.(\d{1,2})(?:\.|$)/.exec(version) ?? []
  return day === undefined ? undefined : Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000
}
