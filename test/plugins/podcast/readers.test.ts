/** Other podcast software reads our feeds: podcastparser, gPodder, and the rules of the namespaces. */
import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { makeFilm } from '../../support/ffmpeg.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { noGpodder, openGpodder } from '../../support/gpodder.ts'
import type { Scope } from '../../support/last-first.ts'
import { installReaders, read } from '../../support/readers.ts'
import { missingHere } from '../../support/required.ts'
import { all, type Element, one, readXml } from '../../support/xml.ts'

const SOUND = { type: 'audio', index: 1, codec: 'aac', bitrate: 64_000 } as const
const DESCRIPTION = 'Flour & water <b>bread</b>'

/** A channel with two films and their sound, and its feed. */
async function withFilms(t: Scope): Promise<{ app: TestApp; url: string }> {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1', channel_name: 'Old & new mill', channel_description: DESCRIPTION }))
  for (const [id, published] of [
    ['v1', '2026-01-03'],
    ['v2', '2026-01-02'],
  ] as const) {
    const path = app.app.media.pathOf('UC1', id)
    await makeFilm(path, ['-c:v', 'libx264', '-c:a', 'aac'])
    const { size } = await stat(path)
    await app.given(
      aVideo({
        ...{ id, title: `Grain <${id}>`, description: DESCRIPTION, published, date_downloaded: 1_700_000_000 },
        ...{ media_size: size, streams: [SOUND], player: { duration: 61 }, chapters: [{ start: 0, title: 'Sow' }] },
        subtitles: [{ ext: 'vtt', lang: 'en', name: 'English', source: 'user', url: '', media_url: '' }],
      }),
    )
  }
  const { body } = await app.as('user').post('/api/podcast/', { kind: 'channel', target: 'UC1' })
  await app.settled()
  return { app, url: body.url }
}

test('podcastparser reads a feed: titles, dates, durations, sound and pictures', async (t) => {
  const reason = await installReaders()
  if (reason) return t.skip(missingHere('readers', reason))
  const { app, url } = await withFilms(t)
  const address = url.replace('/feed.xml', '')

  const { code, output } = await read('podcast.py', [url])

  assert.equal(code, 0, output)
  const feed = JSON.parse(output)
  assert.deepEqual([feed.title, feed.description, feed.type], ['Old & new mill', DESCRIPTION, 'episodic'])
  assert.equal(feed.cover_url, `${address}/cover.jpg`)
  const [first, second] = feed.episodes
  assert.deepEqual([first.guid, second.guid], ['v1', 'v2'])
  assert.deepEqual([first.title, first.total_time, first.explicit], ['Grain <v1>', 61, false])
  assert.equal(first.published, Date.UTC(2026, 0, 3, 12) / 1000)
  assert.equal(first.episode_art_url, `${address}/picture/v1.jpg`)
  const [sound] = first.enclosures
  assert.equal(sound.url, `${address}/sound/v1.m4a`)
  assert.equal(sound.file_size, app.app.sounds.get('v1')?.bytes)
  assert.equal(sound.mime_type, 'audio/x-m4a')
})

test('gPodder subscribes to a feed and downloads it completely', { skip: noGpodder }, async (t) => {
  const { app, url } = await withFilms(t)
  const { gpo, downloads } = openGpodder(await temporaryFolder(t))

  const subscribed = await gpo('subscribe', url)
  const downloaded = await gpo('download')

  assert.equal(subscribed.code, 0, subscribed.output)
  assert.equal(downloaded.code, 0, downloaded.output)
  const ours = await Promise.all(['v1', 'v2'].map((id) => readFile(app.app.sounds.pathOf(id))))
  const theirs = [...(await downloads()).values()]
  const bySize = (files: Buffer[]) => files.map((file) => file.toString('base64')).sort()
  assert.deepEqual(bySize(theirs), bySize(ours), subscribed.output + downloaded.output)
  // Again, when nothing is new.
  assert.equal((await gpo('update')).code, 0)
})

/** The required and optional attributes of each element in the namespaces' documents. */
const ATTRIBUTES: Record<string, { must: string[]; may?: string[] }> = {
  'podcast:transcript': { must: ['url', 'type'], may: ['language', 'rel'] },
  'podcast:chapters': { must: ['url', 'type'] },
  'podcast:alternateEnclosure': {
    must: ['type'],
    may: ['length', 'bitrate', 'height', 'lang', 'title', 'rel', 'codecs', 'default'],
  },
  'podcast:source': { must: ['uri'], may: ['contentType'] },
  'podcast:locked': { must: [], may: ['owner'] },
  'podcast:block': { must: [], may: ['id'] },
  'podcast:guid': { must: [] },
  'podcast:medium': { must: [] },
  'itunes:image': { must: ['href'] },
  'itunes:category': { must: ['text'] },
}
/** At most once in a channel or an item. */
const ONCE = [
  ...['title', 'link', 'description', 'language', 'guid', 'pubDate', 'enclosure', 'itunes:image', 'itunes:author'],
  ...['itunes:explicit', 'itunes:block', 'itunes:type', 'podcast:guid', 'podcast:locked', 'podcast:medium'],
  ...['podcast:chapters', 'itunes:duration', 'itunes:episodeType'],
]

function everyElement(element: Element): Element[] {
  return [element, ...element.children.flatMap(everyElement)]
}

describe('the rules of the namespaces', () => {
  test('hold for every element of a feed', async (t) => {
    const { url } = await withFilms(t)
    const rss = readXml(await (await fetch(url)).text())
    const channel = one(rss, 'channel')

    for (const { name, attributes } of everyElement(rss)) {
      const rule = ATTRIBUTES[name]
      if (!rule) {
        assert.ok(!name.startsWith('podcast:'), `an element without a rule: ${name}`)
        continue
      }
      const { must, may = [] } = rule
      for (const key of must) assert.ok(attributes[key], `${name} without ${key}`)
      for (const key of Object.keys(attributes)) assert.ok([...must, ...may].includes(key), `${name} with ${key}`)
    }
    for (const part of [channel, ...all(channel, 'item')])
      for (const name of ONCE) assert.ok(all(part, name).length <= 1, `${name} twice`)

    for (const name of ['title', 'description', 'itunes:image', 'language', 'itunes:category', 'itunes:explicit'])
      one(channel, name)
    assert.match(
      one(channel, 'podcast:guid').text,
      /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    assert.equal(one(channel, 'itunes:block').text, 'Yes')
    assert.match(one(channel, 'podcast:medium').text, /^(podcast|video|course|music)$/)
    const items = all(channel, 'item')
    assert.equal(items.length, 2)
    for (const item of items) {
      const { url: at, length, type } = one(item, 'enclosure').attributes
      const alternatives = all(item, 'podcast:alternateEnclosure')
      const [own] = alternatives.filter(({ attributes }) => attributes['default'] === 'true')
      assert.deepEqual([one(own!, 'podcast:source').attributes['uri'], own!.attributes['type']], [at, type])
      assert.equal(alternatives.length, 2)
      assert.match(length!, /^[1-9]\d*$/)
      assert.ok(!Number.isNaN(Date.parse(one(item, 'pubDate').text)))
    }
  })
})
