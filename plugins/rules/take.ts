/**
 * Applies taking rules to listed videos: at once if the listing contains enough; otherwise before the download, with
 * one request to the platform.
 */
import { DAY_MS, epochSeconds } from 'archivolt'
import type { NewItem, Origin, Sifted } from '../download/add.ts'
import type { DownloadDoc } from '../download/schema.ts'
import type { AskOptions, VideoMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { type CompiledRule, compile, type Decision, decide, type Facts } from './decide.ts'
import type { GroupRows } from './group-rows.ts'
import type { RuleRows } from './rule-rows.ts'
import type { Quality, Scope } from './schema.ts'
import { openScopes, type Scopes } from './scopes.ts'
import { type Asked, openSeen, type Seen } from './seen-rows.ts'

/** Availability as yt-dlp reports it. */
const AVAILABILITY: Readonly<Record<string, string>> = {
  public: 'public',
  unlisted: 'unlisted',
  subscriber_only: 'members_only',
  premium_only: 'premium',
  needs_auth: 'sign_in',
  private: 'private',
}
/** Availabilities that require an account: without one, such videos would only wait with a message. */
const NEEDS_ACCOUNT = new Set(['members_only', 'premium', 'private'])

/** The fields of a listing or a queue item. */
type Listed = Pick<NewItem, 'id' | 'title' | 'channelId' | 'durationSeconds' | 'vidType' | 'availability'>

/** The current rules. */
interface Compiled {
  version: number
  rules: CompiledRule[]
  isIn: Scopes['isOf']
}

export type Taking = ReturnType<typeof openTaking>

export function openTaking(app: App, rules: RuleRows, groups: GroupRows) {
  const seen = openSeen(app)
  /** Compiled once for each version. */
  let compiled: Compiled | undefined

  function current(): Compiled {
    const version = rules.version()
    if (compiled?.version !== version)
      compiled = { version, rules: compile(rules.list('take')), isIn: openScopes(groups).isOf }
    return compiled
  }

  function factsOf(listed: Listed, origin: Origin, asked: Asked | undefined, { isIn }: Compiled): Facts {
    const isFrom = (playlistId: string) => origin.kind === 'playlist' && origin.id === playlistId
    const { id, title, channelId, durationSeconds, vidType, availability } = listed
    const day = asked?.published
    return {
      ...{ id, channelId, title },
      isIn: (scope: Scope) => isIn(scope, channelId, isFrom),
      ...(durationSeconds > 0 && { seconds: durationSeconds }),
      ...(vidType !== 'unknown' && { kind: vidType }),
      // The listing's availability (below) overrides the one in the platform's answer, because the listing is newer.
      ...asked?.facts,
      ...(availability !== undefined && { availability: AVAILABILITY[availability] ?? availability }),
      ...(day !== undefined && { published: day, publishedDays: daysSince(day, app) }),
    }
  }

  const judged = (listed: Listed, origin: Origin, asked: Asked | undefined, under: Compiled): Decision =>
    decide(under.rules, factsOf(listed, origin, asked, under), asked !== undefined)

  const hasAccount = () => ['valid', 'untried'].includes(app.cookie.health().state)

  /** @returns undefined: the video is taken */
  function leftOutFor(decision: Decision, listed: Listed): (Pick<Sifted, 'outcome'> & { rule?: number }) | undefined {
    if ('unknown' in decision) return undefined
    const { rule } = decision
    if (rule) return rule.outcome === 'take' ? undefined : { outcome: rule.outcome as Sifted['outcome'], rule: rule.id }
    const availability = AVAILABILITY[listed.availability ?? ''] ?? ''
    return NEEDS_ACCOUNT.has(availability) && !hasAccount() ? { outcome: 'skip' } : undefined
  }

  function rowOf(
    listed: Listed,
    origin: Origin,
    decision: Decision,
    { before, version }: { before: Seen | undefined; version: number },
  ): Seen | undefined {
    const common = {
      ...{ id: listed.id, origin, version, at: epochSeconds(app.clock) },
      ...(before?.asked && { asked: before.asked }),
    }
    if ('unknown' in decision) return { ...common, state: 'waits' }
    const left = leftOutFor(decision, listed)
    if (left?.outcome === 'skip')
      return { ...common, state: 'left', ...(left.rule !== undefined && { rule: left.rule }) }
    const { rule } = decision
    if (rule?.outcome === 'take' && rule.quality)
      return { ...common, state: 'as', rule: rule.id, quality: rule.quality }
    return undefined
  }

  return {
    async sift(items: readonly NewItem[], origin: Origin): Promise<Map<string, Sifted>> {
      const sifted = new Map<string, Sifted>()
      const known = seen.of(items.map(({ id }) => id))
      const rows: Seen[] = []
      const gone: string[] = []
      const under = current()
      for (const item of items) {
        const before = known.get(item.id)
        const decision = judged(item, origin, before?.asked, under)
        const left = leftOutFor(decision, item)
        if (left) sifted.set(item.id, { outcome: left.outcome, isKnown: before?.state === 'left' })
        const row = rowOf(item, origin, decision, { before, version: under.version })
        if (row) {
          if (row.state !== before?.state || row.version !== before.version) rows.push(row)
        } else if (before) gone.push(item.id)
      }
      await seen.write(rows, gone)
      return sifted
    },

    /** @throws the error of the platform, as a download does */
    async begin(item: DownloadDoc, asked: AskOptions): Promise<'take' | 'skip' | 'ignore'> {
      const id = item.platform_id
      const before = seen.of([id]).get(id)
      if (before?.state !== 'waits') return 'take'
      const told = before.asked ?? askedOf(await app.platform.video(id, asked))
      if (!seen.of([id]).has(id)) return 'take' // a person has requested it meanwhile
      const listed: Listed = {
        ...{ id, title: item.title, channelId: item.channel_id, durationSeconds: 0, vidType: item.vid_type },
      }
      const under = current()
      const decision = judged(listed, before.origin, told, under)
      const left = leftOutFor(decision, listed)
      const row = rowOf(listed, before.origin, decision, {
        before: { ...before, asked: told },
        version: under.version,
      })
      await seen.write(row ? [row] : [], row ? [] : [id])
      return left?.outcome ?? 'take'
    },

    quality: (id: string): Quality | undefined => {
      const row = seen.of([id]).get(id)
      return row?.state === 'as' ? row.quality : undefined
    },

    /** A person has requested these videos: no rule decides about them before their download. */
    async accept(ids: readonly string[]): Promise<void> {
      await seen.write(
        [],
        [...seen.of(ids).values()].filter(({ state }) => state === 'waits').map(({ id }) => id),
      )
    },

    forget: (ids: readonly string[]) => seen.write([], ids),
    leftOut: seen.leftOut,
  }
}

const daysSince = (day: string, { clock }: Pick<App, 'clock'>): number =>
  Math.floor((clock.now() - Date.parse(day)) / DAY_MS)

/** The answer of the platform about a video, as it is stored. */
function askedOf(metadata: VideoMetadata): Asked {
  const { title, description, durationSeconds, published, vidType, viewCount, subtitles } = metadata
  const { availability, language, height, expectedBytes, isPremiere = false } = metadata
  return {
    ...(published !== undefined && { published }),
    facts: {
      ...{ description, kind: vidType, isPremiere, hasSubtitles: subtitles.user.length + subtitles.auto.length > 0 },
      ...(title !== undefined && { title }),
      ...(durationSeconds > 0 && { seconds: durationSeconds }),
      ...(viewCount !== undefined && { views: viewCount }),
      ...(availability !== undefined && { availability: AVAILABILITY[availability] ?? availability }),
      ...(language !== undefined && { language }),
      ...(height !== undefined && { height }),
      ...(expectedBytes !== undefined && { bytes: expectedBytes }),
    },
  }
}
