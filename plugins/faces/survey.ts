/**
 * Finds the units that a whole render has to process. Compares the stamps of documents with those of the units made
 * from them, and files with the disk, without reading a document.
 */
import { STAMP } from 'archivolt'
import type { App } from './app.ts'
import { unitOf } from './forms.ts'
import { frameStampOf, stampOf, within } from './gather.ts'
import type { Run } from './run.ts'
import type { Rows, Unit, UnitName } from './tables.ts'

const STAMPS_AT_ONCE = 1000
const FILES_AT_ONCE = 100

export interface Survey {
  /** Channels to be rendered, including those that were removed. */
  due: Set<string>
  /** Playlists whose files have changed, by unit. */
  changed: Set<string>
  /** Stamps of all channels, by id. */
  channels: Map<string, string>
  /** The number of videos in the face. */
  films: number
}

export function openSurvey(app: App, rows: Rows) {
  /** All units of a face in order, one at a time. */
  function openUnits({ face }: Run) {
    let after: UnitName = { show: '', unit: '' }
    let page = rows.stampsAfter(face.id, after, STAMPS_AT_ONCE)
    let at = 0
    function current(): Omit<Unit, 'files'> | undefined {
      if (at === page.length && page.length > 0) {
        after = page.at(-1)!
        page = rows.stampsAfter(face.id, after, STAMPS_AT_ONCE)
        at = 0
      }
      return page[at]
    }
    return { current, next: () => void at++ }
  }

  async function channelStamps(): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for await (const batch of app.channels.collection.parts({ paths: [STAMP] }))
      for (const { id, values } of batch) found.set(id, String(values[0]))
    return found
  }

  /** Compares the units of shows and seasons, which precede those of videos and are made from the channel alone. */
  function compareFrames(run: Run, { due, channels }: Survey, units: ReturnType<typeof openUnits>): void {
    for (let unit = units.current(); unit && unit.unit < unitOf(''); unit = units.current()) {
      const { show, stamp } = unit
      if (show !== '' && stamp !== frameStampOf(run, show, channels.get(show) ?? '')) due.add(show)
      units.next()
    }
  }

  /** Compares the units of videos. Both lists are sorted by id. */
  async function compareVideos(run: Run, survey: Survey, units: ReturnType<typeof openUnits>): Promise<void> {
    const { due, channels } = survey
    const paths = ['channel_id', STAMP]
    for await (const batch of app.videos.collection.parts({ filter: within(run), paths, batch: STAMPS_AT_ONCE })) {
      run.signal.throwIfAborted()
      const placed = app.media.places.statesOf(batch.map(({ id }) => id))
      survey.films += batch.length
      for (const { id, values } of batch) {
        const [show, video] = values.map(String) as [string, string]
        const stamp = stampOf(run, video, channels.get(show) ?? '', placed.get(id))
        const isAway = placed.get(id)?.state === 'away'
        let isMet = isAway
        for (let unit = units.current(); unit && unit.unit <= unitOf(id); unit = units.current()) {
          const isIt = unit.unit === unitOf(id) && unit.show === show
          if (isIt && unit.stamp === stamp) isMet = true
          else if (!(isIt && isAway)) due.add(unit.show)
          units.next()
        }
        if (!isMet) due.add(show)
      }
    }
    for (let unit = units.current(); unit; unit = units.current()) {
      due.add(unit.show)
      units.next()
    }
  }

  async function compareFiles({ face, hand, signal }: Run, { due, changed }: Survey): Promise<void> {
    let after: UnitName & { path: string } = { path: '', show: '', unit: '' }
    for (;;) {
      signal.throwIfAborted()
      const page = rows.filesAfter(face.id, after, FILES_AT_ONCE)
      if (page.length === 0) return
      after = page.at(-1)!
      const others = await hand.ask('inspect', { root: face.root, units: page.map(({ files }) => files) })
      for (const at of others) {
        const { show, unit } = page[at]!
        if (show === '') changed.add(unit)
        else due.add(show)
      }
    }
  }

  return async function survey(run: Run): Promise<Survey> {
    const found: Survey = { due: new Set(), changed: new Set(), channels: await channelStamps(), films: 0 }
    const units = openUnits(run)
    compareFrames(run, found, units)
    await compareVideos(run, found, units)
    await compareFiles(run, found)
    return found
  }
}
