/** One run over a face: its parameters, and its report to people and media servers. */
import type { Words } from 'archivolt'
import type { PlaylistFilter } from '../playlist/schema.ts'
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'
import { markOf } from './mark.ts'
import type { Change, FaceRow, FaceState, LinkKind, Selection } from './types.ts'
import type { Hand } from './worker-client.ts'

const MOST_PROBLEMS = 20
/**
 * Maximum number of changes of which media servers are notified by path; for more, they are notified of the whole face.
 */
const MOST_CHANGES = 500

export interface Run {
  face: FaceRow
  /** The stored selection; includes the members of its groups once the groups are known to exist. */
  selection: Selection
  /** The filter of its videos; set once the account of the selection is known to exist. */
  filters: VideoFilter[]
  /** The filter of the playlists that the account of the selection sees; set with `filters`. */
  lists: PlaylistFilter | undefined
  /** Whether the account of the selection does not see this channel, only single videos of it; set with `filters`. */
  isHidden(channel: string): boolean
  hand: Hand
  signal: AbortSignal
  /** Changes if the same documents would give other files. */
  mark: string
  /** The results of the run so far. */
  state: FaceState & { films: number; changed: number; links: Partial<Record<LinkKind, number>> }
  changes: Change[]
}

export function beginRun(app: App, face: FaceRow, hand: Hand, signal: AbortSignal): Run {
  const selection = app.ledger.json<Selection>(face.selection, `faces_face.selection of ${face.id}`, { channels: [] })
  return {
    ...{ face, selection, hand, signal },
    filters: [],
    lists: undefined,
    isHidden: () => false,
    mark: settingsMark(app, face),
    state: { films: 0, changed: 0, links: {} },
    changes: [],
  }
}

function settingsMark({ settings, media, version }: App, face: FaceRow): string {
  const places = media.places.list().map(({ id, path }) => [id, path])
  const { form, template, with_places: withPlaces } = face
  const { mediaDir, cacheDir } = settings
  return markOf(JSON.stringify([version, form, template, withPlaces, mediaDir, cacheDir, places]))
}

export function note({ state }: Run, path: string, reason: Words): void {
  state.problems ??= []
  if (state.problems.length < MOST_PROBLEMS) state.problems.push({ path, reason })
  else state.more_problems = (state.more_problems ?? 0) + 1
}

export function changed(run: Run, path: string, kind: Change['kind']): void {
  run.state.changed++
  if (run.changes.length < MOST_CHANGES) run.changes.push({ path, kind })
}
