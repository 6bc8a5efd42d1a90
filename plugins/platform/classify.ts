/** Classifies a failure by the types of its exceptions and by `RULES`; test/platform/errors.md has the source of each text. */
import { DAY_SECONDS, inEnglish, maskCredentials, say, type Words } from 'archivolt'
import { FAILURES, type FailureClass, gateRuleOf, type Sign } from './failure-classes.ts'
import { PLATFORM } from './name.ts'

/** What is known about a failure: names of the exception and its causes, its message, and earlier warnings. */
export interface Evidence {
  kinds: string[]
  message: string
  /** Status of the HTTP response that caused it. */
  status?: number | null
  errnos?: number[]
  /** The connection itself failed. */
  isTransport?: boolean
  liveStatus?: string | null
  /** Epoch seconds. */
  availableAt?: number | null
  /** Free space needed before it may begin. */
  needBytes?: number | null
  warnings?: string[]
}

export interface Verdict {
  failure: FailureClass
  /** For people: the message of the platform or yt-dlp, without advice on command lines. */
  message: string
  availableAt?: number
  /** Replaces the gate's own reason: which program is missing, or which disk is full and how much must be free. */
  reason?: Words
  sign?: Sign
}

type Rule = [text: string | RegExp, failure: FailureClass, sign?: Sign]

const DISK_FULL_ERRNOS = new Set([28, 69, 122]) // ENOSPC; EDQUOT of macOS and of Linux

/** The first match wins, so precise texts come first: `Video unavailable` begins many messages, `Sign in` ends many. */
const RULES: Rule[] = [
  ['no space left on device', 'disk_full'],
  ['disk quota exceeded', 'disk_full'],
  [/ff(?:mpeg|probe)(?: and ffmpeg)? (?:is not installed|not found)/, 'missing_tool'],

  ['rate-limited by youtube for up to an hour', 'blocked'],
  ["this content isn't available, try again later", 'blocked'],
  ['http error 429', 'blocked'],
  ["sign in to confirm you're not a bot", 'blocked'],
  ['requiring a captcha challenge', 'blocked'],
  ['all player responses are invalid', 'blocked'],
  ['unable to download video data: http error 403', 'blocked'],
  [/unable to download (?:api page|webpage): http error 403/, 'blocked'],
  ['please sign in', 'login_required', 'sign_in'],
  ['login details are needed to download this content', 'login_required'],
  ['playlists that require authentication may not extract correctly', 'login_required'],

  ['private video', 'gone'],
  ['this video is private', 'gone'],
  ['sign in to confirm your age', 'age'],
  ["available to this channel's members on level", 'members_only'],
  ['members-only content', 'members_only'],
  ['requires payment to watch', 'restricted'],

  ['account associated with this video has been terminated', 'gone'],
  ['removed by the uploader', 'gone'],
  ['this video has been removed for violating', 'gone'],
  ['due to a copyright claim by', 'gone'],
  ['blocked it on copyright grounds', 'restricted'],
  ['blocked it in your country', 'restricted'],
  ['has not made this video available in your country', 'restricted'],
  ['you might want to use a vpn or a proxy server', 'restricted'],
  ['is drm protected', 'restricted'],

  ['premieres in', 'upcoming'],
  ['premiere will begin', 'upcoming'],
  ['this live event will begin', 'upcoming'],
  ['this live event has ended', 'upcoming'],
  ["we're processing this video", 'upcoming'],
  ['live stream recording is not available', 'gone'],
  ['the channel is not currently live', 'upcoming'],
  ['the stream is live, or just over', 'upcoming'],

  ['video unavailable', 'gone'],
  ['this video is not available', 'gone'],
  ['this video is no longer available', 'gone'],
  ['looks truncated', 'restricted'],
  ['unsupported url', 'restricted'],

  ['this account has been terminated', 'gone'],
  ['this channel does not exist', 'gone'],
  ['this channel is not available', 'gone'],
  ['the playlist does not exist', 'gone'],
  ['does not exist and the url redirected to', 'gone'],
  ['failed to resolve url (does the playlist exist?)', 'gone'],
  [/(?:^|\s)@\S+: unable to download api page: http error 404/, 'gone'],
  ['this playlist type is unviewable', 'restricted'],
  ['this channel does not have a', 'restricted', 'no_tab'],

  ['unable to recognize tab page', 'unknown', 'not_understood'],
  ['failed to extract any player response', 'unknown', 'not_understood'],
  [/http error 5\d\d/, 'network'],
  [/http error 4\d\d/, 'unknown'],
  ['please report this issue on', 'unknown', 'not_understood'],
  ['giving up after', 'network'],
  ['incomplete data received', 'network'],
  [/more expected|content too short|timed out|connection (?:aborted|reset|refused)/, 'network'],
  [/unable to download (?:webpage|api page|video data)/, 'network'],
]

/** Exceptions whose class is more specific than their message. */
const KINDS: Record<string, FailureClass> = {
  MissingTool: 'missing_tool',
  LocalAddress: 'unknown',
  GeoRestrictedError: 'restricted',
  UnsupportedError: 'restricted',
  UserNotLive: 'upcoming',
  NotOffered: 'not_offered',
  Timeout: 'network',
  ContentTooShortError: 'network',
  Truncated: 'network',
  IncompleteRead: 'network',
}

const NOT_YET = new Set(['is_upcoming', 'is_live', 'post_live'])
/**
 * Pause for an announced video without a known time; once an announced time has passed by a day, the pause is a day.
 */
const UPCOMING_AGAIN_SECONDS = 3600
/** The last second of the year 9999. Later times are ignored, because a page could not show them as dates. */
export const LAST_SHOWN_SECOND = 253_402_300_799
const UNIT_SECONDS: Record<string, number> = { minute: 60, hour: 3600, day: 86_400, week: 604_800 }

const folded = (text: string): string => text.toLowerCase().replaceAll('’', "'")

/** @param nowSeconds  epoch seconds; base for "in 3 hours" */
export function classify(evidence: Evidence, nowSeconds: number): Verdict {
  const text = folded(evidence.message)
  const warnings = folded((evidence.warnings ?? []).join('\n'))
  const message = forPeople(evidence.message)
  const { failure, sign } = judged(evidence, text, warnings)
  if (failure === 'missing_tool') {
    const lacks = missingTool(text) ?? message
    return { failure, message: inEnglish(lacks), reason: gateRuleOf(failure).reason(lacks) }
  }
  if (failure === 'upcoming') return { failure, message, availableAt: availableAt(evidence, text, nowSeconds) }
  if (failure === 'not_offered' && evidence.availableAt) return { failure, message, availableAt: evidence.availableAt }
  return { failure, message, ...(sign && { sign }) }
}

/** Whether a signed-in request may succeed: private videos look missing to guests. */
export function mayNeedAccount(evidence: Evidence): boolean {
  return (
    FAILURES[classify(evidence, 0).failure].needsAccount === true ||
    /private|not a bot|the playlist does not exist/.test(folded(evidence.message))
  )
}

/** The message for admins that names the program to install; yt-dlp's own message names its command-line options. */
function missingTool(text: string): Words | undefined {
  if (text.includes('requested format'))
    return say`a JavaScript runtime for ${{ platform: PLATFORM }}; install Node 22 or Deno`
  const program = /ff(?:mpeg|probe)/.exec(text)?.[0]
  return (
    program &&
    say`${{ program }} cannot be started; install it, or set ${{ env: `AV_${program.toUpperCase()}` }} to its path`
  )
}

function judged(evidence: Evidence, text: string, warnings: string): { failure: FailureClass; sign?: Sign } {
  if (evidence.errnos?.some((errno) => DISK_FULL_ERRNOS.has(errno))) return { failure: 'disk_full' }
  const isNotYet = evidence.liveStatus !== undefined && evidence.liveStatus !== null && NOT_YET.has(evidence.liveStatus)
  if (text.includes('requested format is not available') || text.includes('no video formats found')) {
    return { failure: isNotYet ? 'upcoming' : ofMissingFormat(warnings) }
  }
  const rule = RULES.find(([words]) => (typeof words === 'string' ? text.includes(words) : words.test(text)))
  if (
    rule &&
    warnings.includes('cookies are no longer valid') &&
    (FAILURES[rule[1]].needsAccount || text.includes('private'))
  )
    return { failure: 'login_required' }
  // yt-dlp may report a 5xx or a broken connection as a bug ("please report this issue"), so its cause decides.
  if (!rule || rule[1] === 'unknown') {
    const kind = evidence.kinds.map((name) => KINDS[name]).find((failure) => failure !== undefined)
    if (kind) return { failure: kind }
    if (isNotYet) return { failure: 'upcoming' }
    if ((evidence.status ?? 0) >= 500 || (evidence.isTransport && !evidence.status)) return { failure: 'network' }
  }
  return rule ? { failure: rule[1], ...(rule[2] && { sign: rule[2] }) } : { failure: 'unknown' }
}

/** yt-dlp only says that a format is missing; the real cause is in a warning that came before. */
function ofMissingFormat(warnings: string): FailureClass {
  if (warnings.includes('no supported javascript runtime could be found')) return 'missing_tool'
  return warnings.includes('formats have been skipped as they are missing a url') ? 'unknown' : 'restricted'
}

function availableAt(evidence: Evidence, text: string, nowSeconds: number): number {
  if (evidence.availableAt && evidence.availableAt > nowSeconds && evidence.availableAt <= LAST_SHOWN_SECOND)
    return Math.floor(evidence.availableAt)
  const isLate = (evidence.availableAt ?? nowSeconds) < nowSeconds - DAY_SECONDS
  const again = isLate ? DAY_SECONDS : UPCOMING_AGAIN_SECONDS
  const told = /\bin (\d{1,4}) (minute|hour|day|week)s?\b/.exec(text)
  return nowSeconds + (told ? Math.max(1, Number(told[1])) * (UNIT_SECONDS[told[2] as string] as number) : again)
}

/** A message without ids, names and numbers, so that the same failure of two items has the same text. */
export function commonText(message: string): string {
  return folded(message)
    .replace(/(?:^|\s)\[[\w:]+\]\s+\S+:\s/, '')
    .replace(/['"][^'"]*['"]|\d+/g, '…')
    .slice(0, 200)
}

/** The message as people read it: prefixes, advice on options and requests for bug reports are cut. */
export function forPeople(message: string): string {
  const text = message
    .replace(/^(?:ERROR:\s*)+/i, '')
    .replace(/^[\s\r]*\[download\] Got error:\s*/i, '')
    .replace(/^\[[\w:]+\] (?:\S{1,200}: )?/, '')
    .replace(/^YouTube said:\s*/i, '')
    .replace(/(?:Use --cookies|Also see {2}http|; please report this issue on|\(caused by )[\s\S]*$/i, '')
    // control characters never reach a page or a log line
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
  return maskCredentials(text || 'Unknown error').slice(0, 400)
}
