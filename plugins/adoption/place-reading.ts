/** The tools for reading a place: the reading child, ids of the platform, and tags of single files. */

import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobContext } from 'archivolt'
import { videoIn } from '../film-kit/ids.ts'
import { metadataIn } from '../film-kit/metadata.ts'
import { isWithin, pathOf } from '../film-kit/names.ts'
import type { FoundFile } from '../film-kit/types.ts'
import type { Walked } from '../film-kit/walk.ts'
import type { PlaceTools } from '../library/reader.ts'
import type { App } from './app.ts'
import { documentsIn } from './catalogs/documents.ts'
import { NOTES_FILE } from './catalogs/notes.ts'
import type { Along, CatalogFault, CatalogRead, PathMap } from './catalogs/types.ts'
import { openReading } from './reading.ts'
import type { NotesArgs } from './worker.ts'

/** Maximum number of files whose tags are read: each one takes a process of its own. */
const MOST_TAGGED = 500

const UNSEEN_STEP = 500
const ALONG_STEP = 200

const NOTES = 'adoptions'
const notesFolder = (adoption: number, { settings }: App): string => join(settings.dataDir, NOTES, String(adoption))

/** Removes notes of deleted adoptions. */
export async function forgetNotes(app: App): Promise<void> {
  const names = await readdir(join(app.settings.dataDir, NOTES)).catch(() => [])
  for (const name of names)
    if (!app.adoptions.find(Number(name))) await rm(notesFolder(Number(name), app), { recursive: true, force: true })
}

type Run = Pick<JobContext<object>, 'signal' | 'log'>

export type PlaceReading = ReturnType<typeof openPlace>

/** @param adoption  the adoption whose catalog notes are used, if there are any */
export function openPlace(path: string, adoption: number, job: Run, app: App) {
  const own = notesFolder(adoption, app)
  const notes = async (): Promise<NotesArgs> => ({ own, path, roots: await app.media.places.realRoots() })
  let hasNotes = existsSync(join(own, NOTES_FILE))

  const reading = openReading(job, app)
  const { child } = reading
  let tagged = 0
  /** Places inside this place, which are scanned separately. */
  const inner = () =>
    app.media.places.list().flatMap((one) => (isWithin(path, one.path) && one.path !== path ? [one.path] : []))
  const walk = async () => reading.walk({ path, leaveOut: inner(), roots: await app.media.places.realRoots() })
  const tools: PlaceTools = {
    extractor: app.platform.name.toLowerCase(),
    videoIn: (text) => videoIn(text, app),
    look: async (files) => reading.look(path, files, hasNotes ? await notes() : undefined),
    metadataOf: (info, id) => metadataIn(info, id, app),
    async idInTags(file: FoundFile) {
      if (tagged++ >= MOST_TAGGED) return undefined
      const tags = await app.media.tagsIn(`${path}/${pathOf(file)}`, job.signal)
      for (const key of ['purl', 'comment', 'synopsis', 'description']) {
        const [line = ''] = (tags.get(key) ?? '').trim().split(/\s/, 1)
        const id = line.startsWith('http') ? videoIn(line, app) : undefined
        if (id !== undefined) return id
      }
      return undefined
    },
  }
  /** Yields rows of the notes by their number, in pieces. @param ask  reads those after a number */
  async function* noted<Row extends { number: number }>(
    ask: (from: NotesArgs & { after: number }) => Promise<Row[]>,
  ): AsyncGenerator<Row[]> {
    for (let after = 0; hasNotes; ) {
      const rows = await ask({ ...(await notes()), after })
      if (rows.length === 0) return
      yield rows
      after = rows.at(-1)!.number
    }
  }

  return {
    tools,
    async *walk(): AsyncGenerator<Walked> {
      yield* await walk()
    },
    /**
     * Reads the catalog of the place once, and stores notes for later requests.
     * @param at  its path; default: searched
     * @param kind  default: detected
     * @param said  the folder mapping; default: detected
     */
    async readCatalog(
      at: string,
      kind?: string,
      said?: PathMap,
    ): Promise<{ read?: CatalogRead; faults: CatalogFault[] }> {
      const { endings } = app.media.containers
      const asked = { ...(await notes()), ...(at !== '' && { at }), kind, said, endings }
      const found = await child().ask('catalog', asked, job.signal)
      hasNotes = found.read !== undefined
      return found
    },
    /** Stores a page of documents from an Elasticsearch. @param isFirst  replaces earlier pages */
    storeDocuments: (text: string, isFirst: boolean): Promise<{ count: number; after?: unknown[] }> =>
      child().ask('documents', { own, text, isFirst }, job.signal),
    /** The path of the file with these documents, for `readCatalog`. */
    documents: documentsIn(own),
    /** Sizes and times of the catalog's files. */
    stamp: async (): Promise<string> =>
      child().ask('stamp', { path, roots: await app.media.places.realRoots() }, job.signal),
    /** The comments of a video in yt-dlp's form. */
    commentsOf: async (id: string, file: FoundFile): Promise<unknown[]> =>
      child().ask('comments', { id, path, file, ...(hasNotes && { notes: await notes() }) }, job.signal),
    /** Yields ids of the catalog for which no file was found, in pieces. */
    async *unseen(): AsyncGenerator<string[]> {
      for await (const rows of noted((from) => child().ask('unseen', { ...from, most: UNSEEN_STEP }, job.signal)))
        yield rows.map(({ id }) => id)
    },
    /** Yields lines of the download archive of the catalog's program, in pieces. */
    async *archived(): AsyncGenerator<string[]> {
      for await (const rows of noted((from) => child().ask('archived', { ...from, most: UNSEEN_STEP }, job.signal)))
        yield rows.map(({ line }) => line)
    },
    /** Yields what people have done in the other program, in pieces. */
    along: (): AsyncGenerator<Array<{ number: number; one: Along }>> =>
      noted((from) => child().ask('along', { ...from, most: ALONG_STEP }, job.signal)),
    end: reading.end,
  }
}
