/** What goes into an archive: all documents in the stored form, collection by collection. */
import type { App, JobContext, Services } from 'archivolt'
import type { Stored, StoredForm } from './stored-form.ts'

/** In this order, so that who restores a file by hand has channels before their videos. */
const ORDER = ['channel', 'video', 'download', 'playlist', 'subtitle', 'comment']
const DOCUMENTS_A_FILE = 500
const COMMENTS_A_FILE = 200

type VideoDoc = NonNullable<Awaited<ReturnType<Services['videos']['get']>>>

export function openContents(app: App, form: StoredForm) {
  const names = () => [
    ...ORDER,
    ...app.index.definitions.map(({ name }) => name).filter((name) => !ORDER.includes(name)),
  ]
  const definitionOf = (name: string) => app.index.definitions.find((candidate) => candidate.name === name)
  const collectionOf = (name: string) => {
    const definition = definitionOf(name)
    return definition && app.index.collection(definition)
  }

  /** What stored forms join from elsewhere, for one batch. */
  async function* storedDocuments(name: string): AsyncIterable<Array<{ id: string; stored: Stored }>> {
    const collection = collectionOf(name)
    if (!collection) return
    for await (const batch of collection.scan({
      batch: name === 'comment' ? COMMENTS_A_FILE : DOCUMENTS_A_FILE,
      order: 'newest last',
    })) {
      yield await storedBatch(name, batch as Array<{ id: string; doc: never }>)
    }
  }

  async function storedBatch(
    name: string,
    batch: Array<{ id: string; doc: never }>,
  ): Promise<Array<{ id: string; stored: Stored }>> {
    if (name === 'channel' || name === 'playlist' || name === 'download')
      return batch.map(({ id, doc }) => ({ id, stored: form.toStored[name](doc) }))
    if (name === 'video') {
      const channels = await app.channels.collection.getMany(
        unique(batch.map(({ doc }) => (doc as VideoDoc).channel_id)),
      )
      const stored = new Map([...channels].map(([id, doc]) => [id, form.toStored.channel(doc)]))
      return batch.map(({ id, doc }) => ({
        id,
        stored: form.toStored.video(doc, stored.get((doc as VideoDoc).channel_id)),
      }))
    }
    if (name !== 'comment' && name !== 'subtitle') return batch.map(({ id, doc }) => ({ id, stored: doc }))
    const videos = await app.videos.collection.getMany(
      unique(batch.map(({ doc }) => (doc as { platform_id: string }).platform_id)),
    )
    if (name === 'comment')
      return batch.map(({ id, doc }) => ({ id, stored: form.toStored.comment(doc, videos.get(id)?.channel_id) }))
    const channels = await app.channels.collection.getMany(
      unique([...videos.values()].map(({ channel_id }) => channel_id)),
    )
    return batch.map(({ id, doc }) => {
      const video = videos.get((doc as { platform_id: string }).platform_id)
      return {
        id,
        stored: form.toStored.subtitle(
          doc,
          video && { title: video.title, channelName: channels.get(video.channel_id)?.channel_name ?? '' },
        ),
      }
    })
  }

  /** One file of the archive after the other. */
  async function* archiveEntries(
    day: string,
    job: JobContext<object>,
  ): AsyncIterable<{ fileName: string; lines: Iterable<string> }> {
    yield {
      fileName: `es_config-${day}-0.json`,
      lines: documentLines([{ id: 'config', stored: app.preferences.all() }], form.nameOf('config')),
    }
    const all = names()
    for (const [index, name] of all.entries()) {
      let counter = 0
      let done = 0
      for await (const batch of storedDocuments(name)) {
        job.signal.throwIfAborted()
        done += batch.length
        job.progress(index / all.length, `Backing up ${name}: ${done} documents`)
        yield { fileName: `es_${name}-${day}-${counter++}.json`, lines: documentLines(batch, form.nameOf(name)) }
      }
    }
  }

  return { names, definitionOf, collectionOf, archiveEntries }
}

const unique = (ids: string[]): string[] => [...new Set(ids)]

function* documentLines(documents: Iterable<{ id: string; stored: Stored }>, index: string): Iterable<string> {
  for (const { id, stored } of documents)
    yield `${JSON.stringify({ index: { _index: index, _id: id } })}\n${JSON.stringify(stored)}\n`
}
