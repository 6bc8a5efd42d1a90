/**
 * Applies the keeping rules to every video in the archive, with the function that makes all decisions. Reads columns in
 * batches. A preview stores the result, and a run compares its own result with it.
 */
import { createHash } from 'node:crypto'
import { DAY_SECONDS, Slice } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'
import { type CompiledRule, compile, decide } from './decide.ts'
import { openFacts, type Watched } from './facts.ts'
import { newestOf } from './newest.ts'
import type { Conditions, Rule } from './schema.ts'
import type { Scopes } from './scopes.ts'

/** Why a video stays although a rule would remove or download it again. */
export const NOTES = ['kept', 'place', 'restored', 'fetched', 'room', 'linked', 'no_film'] as const
export type Note = (typeof NOTES)[number]

export type KeepOutcome = 'keep' | 'remove' | 'fetch'

/** A video that a rule has decided. */
export interface Row {
  id: string
  rule: number
  bytes: number
  /** The space that is freed when the film is deleted. */
  freed: number
  note?: Note
}

export interface Sum {
  videos: number
  bytes: number
  freed: number
}

/** The totals of a list. */
export interface Sums {
  /** All videos in the survey. */
  videos: number
  /** Videos that no rule has decided. */
  undecided: number
  outcomes: Record<KeepOutcome, Sum>
  /** By rule: the totals of its decisions, and the number of videos in its scope. */
  rules: Record<number, Sum & { scope: number }>
  /** A hash of everything that is removed or downloaded again: lists with the same digest have the same effect. */
  digest: string
  /** Free space on the disk, with what the bin holds, if a rule needs it. */
  free?: number
}

/** The time of a survey: a run uses that of its list. */
export interface AsOf {
  /** Epoch seconds. */
  now: number
  free?: number
}

const BATCH = 1000
/**
 * Number of days during which a rule does not change the same video again: a removed one that is here was restored, by
 * an undo or by a person.
 */
const ONCE_IN_DAYS = 30
/** Number of videos that are decided between two checks of the clock. */
const CHECK_EVERY = 32

/** Paths in documents, by the conditions that need them. */
const NEEDED: Partial<Record<keyof Conditions, readonly string[]>> = {
  title: ['title'],
  title_not: ['title'],
  description: ['description'],
  description_not: ['description'],
  longer_than: ['player.duration'],
  shorter_than: ['player.duration'],
  published_within: ['published'],
  published_before: ['published'],
  published_before_day: ['published'],
  kinds: ['vid_type'],
  languages: ['receipt.got.audio_language', 'receipt.offered.original_language'],
  subtitles: ['subtitles.0.lang'],
  height_from: ['width', 'height'],
  height_below: ['width', 'height'],
  views_from: ['stats.view_count'],
  views_below: ['stats.view_count'],
  on_platform: ['active'],
}

/** @param also  additional paths to read */
async function openReading(
  app: App,
  compiled: readonly CompiledRule[],
  scopes: Scopes,
  { now, free }: AsOf,
  also: readonly string[],
) {
  const names = new Set(compiled.flatMap(({ tests }) => tests.map(([name]) => name)))
  const members = await membersOf(app, compiled, scopes)
  const newest = await newestOf(app, compiled, scopes, members)
  const room = names.has('free_below') ? (free ?? (await roomOf(app))) : undefined
  const paths = [
    ...new Set([
      'channel_id',
      'media_size',
      'date_downloaded',
      ...also,
      ...[...names].flatMap((name) => NEEDED[name] ?? []),
    ]),
  ]
  return { paths, room, facts: openFacts(paths, { now, room, scopes, members, newest }) }
}

/** Free space with what the bin holds: otherwise each run would remove more, until the bin deletes what the first removed. */
const roomOf = async ({ media, bin }: App): Promise<number> => (await media.space()).free + bin.sum().sizeBytes

/** Ids of all videos that a rule applies to, the newest first. A fact that the archive does not know meets no condition. */
export async function selectedBy(rule: Rule, scopes: Scopes, now: number, app: App): Promise<string[]> {
  const compiled = compile([{ ...rule, isOn: true }])
  const { paths, facts } = await openReading(app, compiled, scopes, { now }, ['published'])
  const found: Array<{ id: string; published: string }> = []
  const slice = new Slice()
  for await (const batch of app.videos.collection.parts({ paths, batch: BATCH })) {
    const ids = batch.map(({ id }) => id)
    const watched = watchedAmong(app, ids)
    for (const [index, { id, values }] of batch.entries()) {
      if (index % CHECK_EVERY === 0 && slice.isOver) await slice.next()
      facts.show(id, values, watched)
      const decision = decide(compiled, facts, true)
      if ('rule' in decision && decision.rule) found.push({ id, published: facts.published ?? '' })
    }
  }
  return found.sort((one, other) => (one.published < other.published ? 1 : -1)).map(({ id }) => id)
}

/**
 * @param onRow  receives each row
 * @throws the reason of `signal`
 */
export async function survey(
  app: App,
  rules: readonly Rule[],
  scopes: Scopes,
  asOf: AsOf,
  { onRow, signal }: { onRow: (outcome: KeepOutcome, row: Row) => void; signal?: AbortSignal | undefined },
): Promise<Sums> {
  const compiled = compile(rules)
  const { paths, room, facts } = await openReading(app, compiled, scopes, asOf, ['keep'])
  const keepAt = paths.indexOf('keep')
  const removing = compiled.filter(({ outcome }) => outcome === 'remove')
  const sums = emptySums(compiled)
  if (room !== undefined) sums.free = room
  const digest = createHash('sha256')
  const forRoom: Waiting[] = []

  function settle(outcome: KeepOutcome, row: Row): void {
    for (const sum of [sums.outcomes[outcome], sums.rules[row.rule]!]) add(sum, row)
    if (outcome !== 'keep') digest.update(`${outcome} ${row.id} ${row.rule}\n`)
    onRow(outcome, row)
  }

  const slice = new Slice()
  for await (const batch of app.videos.collection.parts({ paths, batch: BATCH })) {
    signal?.throwIfAborted()
    const watched = watchedAmong(
      app,
      batch.map(({ id }) => id),
    )
    const touched: Waiting[] = []
    for (const [index, { id, values }] of batch.entries()) {
      if (index % CHECK_EVERY === 0 && slice.isOver) await slice.next()
      sums.videos++
      facts.show(id, values, watched)
      for (const rule of removing) if (facts.isIn(rule.scope)) sums.rules[rule.id]!.scope++
      const decision = decide(compiled, facts, true)
      const rule = 'rule' in decision ? decision.rule : undefined
      if (!rule) sums.undecided++
      else {
        const row: Row = { id, rule: rule.id, bytes: facts.bytes, freed: 0 }
        if (rule.outcome === 'keep') settle('keep', row)
        else
          touched.push({
            ...{ row, rule, channelId: facts.channelId, added: facts.addedDays },
            isProtected: Boolean(values[keepAt]),
          })
      }
    }
    for (const one of await weighed(app, touched, asOf.now)) {
      if (one.row.note && STAYS.has(one.row.note)) settle('keep', one.row)
      else if (one.rule.outcome === 'remove' && one.rule.conditions.free_below !== undefined) forRoom.push(one)
      else settle(one.rule.outcome as KeepOutcome, one.row)
    }
  }
  for (const [outcome, row] of untilThereIsRoom(forRoom, room ?? 0)) settle(outcome, row)
  return { ...sums, digest: digest.digest('base64url') }
}

/** A video that a rule would remove or download again. */
interface Waiting {
  row: Row
  rule: CompiledRule
  channelId: string
  /** When the video was added, in days. */
  added: number
  /** A person has protected the video. */
  isProtected: boolean
}

const STAYS: ReadonlySet<Note> = new Set(['kept', 'place', 'restored', 'fetched'])

/** Reads the marks of a batch once, if a rule needs them. */
function watchedAmong({ watch }: App, ids: readonly string[]): Watched {
  const known = new Map<string, Map<string, number>>()
  return (by) => {
    const key = by ?? ''
    let found = known.get(key)
    if (!found) known.set(key, (found = watch.watchedSince(ids, by)))
    return found
  }
}

async function membersOf({ videos }: App, rules: readonly CompiledRule[], scopes: Scopes) {
  const members = new Map<string, Set<string>>()
  for (const id of new Set(rules.flatMap(({ scope }) => scopes.playlistsOf(scope)))) {
    const ids = new Set<string>()
    const filter: VideoFilter = { eq: ['playlist', id] }
    for await (const batch of videos.collection.parts({ filter, paths: [] })) for (const one of batch) ids.add(one.id)
    members.set(id, ids)
  }
  return members
}

/** Adds the reasons why videos must not be changed, and the space that their films use on the disk. */
async function weighed(app: App, all: readonly Waiting[], now: number): Promise<Waiting[]> {
  const ids = all.map(({ row: { id } }) => id)
  const changed = app.touching.changedSince(ids, now - ONCE_IN_DAYS * DAY_SECONDS)
  const noteOf = ({ row: { id }, rule, isProtected }: Waiting): Note | undefined => {
    if (isProtected) return 'kept'
    // A film in a place is removed only by its own program.
    if (!app.media.isOurs(id)) return 'place'
    if (!changed.has(`${rule.id} ${rule.outcome} ${id}`)) return undefined
    return rule.outcome === 'fetch' ? 'fetched' : 'restored'
  }
  const noted = all.map((one) => ({ ...one, note: noteOf(one) }))
  const going = noted.filter(({ note, rule }) => note === undefined && rule.outcome === 'remove')
  const links = await app.media.linksOf(going.map(({ row, channelId }) => ({ channelId, videoId: row.id })))
  return noted.map(({ note, ...one }): Waiting => {
    const count = note === undefined ? links.get(one.row.id) : undefined
    if (count === 1) return { ...one, row: { ...one.row, freed: one.row.bytes } }
    const why = count === undefined ? note : count === 0 ? 'no_film' : 'linked'
    return why === undefined ? one : { ...one, row: { ...one.row, note: why } }
  })
}

/** Removes the oldest first, until the rule's limit of free space is reached. */
function* untilThereIsRoom(all: readonly Waiting[], room: number): Generator<[KeepOutcome, Row]> {
  let free = room
  const sorted = all.toSorted((one, other) => other.added - one.added || (one.row.id < other.row.id ? -1 : 1))
  for (const { row, rule } of sorted) {
    if (free >= rule.conditions.free_below!) {
      yield ['keep', { ...row, freed: 0, note: 'room' }]
      continue
    }
    free += row.freed
    yield ['remove', row]
  }
}

const nothing = (): Sum => ({ videos: 0, bytes: 0, freed: 0 })
const emptySums = (rules: readonly CompiledRule[]): Sums => ({
  ...{ videos: 0, undecided: 0, digest: '' },
  outcomes: { keep: nothing(), remove: nothing(), fetch: nothing() },
  rules: Object.fromEntries(rules.map(({ id }) => [id, { ...nothing(), scope: 0 }])),
})
function add(sum: Sum, { bytes, freed }: Row): void {
  sum.videos++
  sum.bytes += bytes
  sum.freed += freed
}
