/** How a listing becomes queue items, with a limited number of pictures ahead. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aNewItem } from 'archivolt/testing'
import { openLog } from '../../../core/log.ts'
import type { App } from '../../../plugins/download/app.ts'
import { openListings } from '../../../plugins/download/listed-items.ts'

/** Stores no picture, and reports which were requested. */
function someArt(fetch: (id: string) => boolean = () => true) {
  const fetched: string[] = []
  const media = {
    hasArt: async () => false,
    async fetchArt(_kind: string, id: string) {
      fetched.push(id)
      return fetch(id)
    },
  } as unknown as App['media']
  return { fetched, listings: openListings({ media }) }
}

const page = (from: number, size: number) =>
  Array.from({ length: size }, (_, at) => aNewItem(`v${from + at}`, { art: `https://i.test/${from + at}.jpg` }))
const job = () => ({ log: openLog('silent'), signal: new AbortController().signal })

test('thirty pictures of a listing are fetched ahead, however long its pages are', async () => {
  for (const size of [7, 30, 100]) {
    const { fetched, listings } = someArt()
    const fetchArt = listings.artAhead(job())

    for (let from = 0; from < 100; from += size) await fetchArt(page(from, size))

    assert.deepEqual(
      fetched,
      page(0, 30).map(({ id }) => id),
    )
  }
})

test('a picture that cannot be made does not prevent queueing, but the end of a stopped job does', async () => {
  const { listings } = someArt(() => {
    throw new Error('ffmpeg is not installed')
  })
  const ending = new AbortController()
  const fetchArt = listings.artAhead({ ...job(), signal: ending.signal })

  await fetchArt(page(0, 3))
  ending.abort(new Error('stopped'))

  await assert.rejects(fetchArt(page(3, 3)), /stopped/)
})

test('only available and published entries of a playlist become items', () => {
  const { listings } = someArt()
  const entry = (id: string, fields: object = {}) => ({
    ...{ id, title: id, uploader: null, isThere: true, isPending: false },
    ...fields,
  })

  const items = listings.ofPlaylist([
    entry('a'),
    entry('gone', { isThere: false }),
    entry('soon', { isPending: true }),
    entry('b', { uploader: 'Harbour', channelId: 'UC1', thumbnail: 'https://i.test/b.jpg' }),
  ] as never)

  assert.deepEqual(
    items.map(({ id, channelId, channelName, vidType, art }) => [id, channelId, channelName, vidType, art]),
    [
      ['a', '', '', 'unknown', undefined],
      ['b', 'UC1', 'Harbour', 'unknown', 'https://i.test/b.jpg'],
    ],
  )
})
