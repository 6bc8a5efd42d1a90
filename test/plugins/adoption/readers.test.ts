/** Readers of other programs' libraries: plugins add to the built-in ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { definePlugin } from '../../../core/plugin/define.ts'
import type { PlaceReader } from '../../../plugins/library/reader.ts'

const readerOf = (name: string): PlaceReader => ({
  name,
  title: name.toUpperCase(),
  recognise: () => 0,
  read: async () => [],
  factsOf: async () => [],
})

test('a plugin adds one or several readers, which are listed before the built-in ones', async (t) => {
  const one = definePlugin({
    name: 'shelf',
    needs: ['library'],
    implements: { 'library.reader': () => readerOf('one') },
  })
  const several = definePlugin({
    name: 'stack',
    needs: ['library'],
    implements: { 'library.reader': () => [readerOf('two'), readerOf('three')] },
  })
  const app = await testApp(t, { outside: [one, several] })

  const { body } = await app.as('admin').get('/api/adoption/')

  const names = body.sources.map(({ name }: { name: string }) => name)
  assert.deepEqual(names.slice(0, 4), ['one', 'two', 'three', 'yt-dlp'])
  assert.ok(names.includes('tubearchivist'))
})
