/** The cache of episodes: what it stores, and that it stays small whatever is requested. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openShelf } from '../../../plugins/plex/shelf.ts'

test('a request for a show without episodes is not cached for ever', async () => {
  const reads: string[] = []
  async function* parts({ filter }: { filter: { eq: [string, string] } }) {
    reads.push(filter.eq[1])
    yield []
  }
  const shelf = openShelf({ videos: { collection: { parts } } } as never)
  const ask = (show: string) => shelf.episodesOf(show, { id: 1, view: undefined })
  await ask('1080p')
  await ask('1080p')
  assert.deepEqual(reads, ['1080p'], 'it is kept')

  for (let at = 0; at < 1000; at++) await ask(`tt${at}`)
  await ask('1080p')

  assert.deepEqual(reads.slice(-2), ['tt999', '1080p'])
})
