/** Query parameters become one query, to which plugins contribute. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Actor } from 'archivolt'
import { SORT_NAMES as SORTS_OF_ACCOUNTS } from '../../../plugins/user/user-preferences.ts'
import type { App } from '../../../plugins/video/app.ts'
import { SORT_NAMES as SORTS_OF_LISTS, toQuery, type VideoListPart } from '../../../plugins/video/listing.ts'

const actor: Actor = { id: 1, username: 'ann', isAdmin: false, mayDownload: false, via: 'token' }
const anApp = (...parts: VideoListPart[]) =>
  ({ hook: () => parts.map((part) => ({ query: {}, apply: () => part })) }) as unknown as App

test('without parameters the newest published come first', async () => {
  assert.deepEqual(await toQuery({ order: 'desc' }, actor, anApp()), { sort: [{ by: 'published', order: 'desc' }] })
})

test('filters combine and a sort is translated', async () => {
  const query = await toQuery(
    {
      channel: 'UC1',
      type: 'shorts',
      height: 1080,
      after: '2024-01-01',
      before: '2024-02-01',
      sort: 'filesize',
      order: 'asc',
    },
    actor,
    anApp(),
  )

  assert.deepEqual(query, {
    filter: {
      and: [
        { eq: ['channel_id', 'UC1'] },
        { eq: ['vid_type', 'shorts'] },
        { eq: ['height', 1080] },
        { range: ['published', { lt: '2024-02-01' }] },
        { range: ['published', { gte: '2024-01-01' }] },
      ],
    },
    sort: [{ by: 'media_size', order: 'asc' }],
  })
})

test("a plugin's ids determine the order, until the caller sorts", async () => {
  const part = { ids: ['b', 'a'] }

  assert.deepEqual(await toQuery({}, actor, anApp(part)), { ids: ['b', 'a'] })
  assert.deepEqual(await toQuery({ sort: 'views' }, actor, anApp(part)), {
    filter: { in: ['platform_id', ['b', 'a']] },
    sort: [{ by: 'view_count', order: 'desc' }],
  })
})

test('a fixed order overrides the sort and other ids', async () => {
  const query = await toQuery(
    { sort: 'views' },
    actor,
    anApp({ ids: ['b', 'a'] }, { ids: ['a', 'b', 'c'], order: 'always' }, { filter: { eq: ['active', false] } }),
  )

  assert.deepEqual(query, {
    filter: { and: [{ in: ['platform_id', ['b', 'a']] }, { eq: ['active', false] }] },
    ids: ['a', 'b', 'c'],
  })
})

test('an account may choose every sort of lists of videos, and no other', () => {
  assert.deepEqual(SORTS_OF_ACCOUNTS.toSorted(), SORTS_OF_LISTS.toSorted())
})
