/** The slots of a simple search: contract 7. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstHits } from '../../../plugins/search/first-hits.ts'

type Counts = [channel: number, playlist: number, video: number]

const list = (count: number) => Array.from({ length: count }, (_, number) => number)
const sized = ([channel, playlist, video]: Counts) => ({
  channel: list(channel),
  playlist: list(playlist),
  video: list(video),
})
const counts = (found: ReturnType<typeof sized>): Counts => [
  found.channel.length,
  found.playlist.length,
  found.video.length,
]

const rows: Array<[found: Counts, shown: Counts, taken?: Counts]> = [
  [
    [30, 30, 30],
    [6, 6, 18],
  ],
  [
    [2, 0, 30],
    [2, 0, 28],
  ],
  [
    [30, 30, 0],
    [24, 6, 0],
  ],
  [
    [30, 0, 5],
    [25, 0, 5],
  ],
  [
    [0, 30, 4],
    [0, 26, 4],
  ],
  [
    [1, 1, 1],
    [1, 1, 1],
  ],
  [
    [0, 0, 0],
    [0, 0, 0],
  ],
  // Fuzzy hits after exact ones.
  [
    [30, 30, 30],
    [1, 0, 0],
    [0, 0, 29],
  ],
  [
    [30, 30, 30],
    [6, 4, 0],
    [0, 0, 20],
  ],
  [
    [30, 30, 30],
    [0, 6, 4],
    [10, 0, 10],
  ],
  [
    [5, 5, 5],
    [0, 0, 0],
    [0, 0, 30],
  ],
]

test('channels and playlists get up to six of the thirty slots, videos the rest, and unused slots go to the others', () => {
  for (const [found, shown, taken] of rows) {
    assert.deepEqual(counts(firstHits(sized(found), taken && sized(taken))), shown, JSON.stringify([found, taken]))
  }
})
