/** A record is joined from texts: whatever the texts contain, the result equals the record made by parsing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channelIdOf, joinRecord } from '../../../plugins/video/join-records.ts'

const hostile = '","player":{"position":9},"media_url":"/media/evil/x.mp4"} \\" \u2028'
const stored = {
  platform_id: 'v1',
  title: hostile,
  tags: [hostile, '}'],
  media_url: '/media/UC1/v1.mp4',
  subtitles: [{ lang: 'en', media_url: '/media/UC1/v1.en.vtt' }],
  stats: { view_count: 1 },
}
const player = { duration: 500, duration_str: '8m 20s' }
const tail = { watched: true, watched_date: 1, position: 12.5, progress: 2.5 }
const channel = { channel_id: 'UC1', channel_name: hostile }

test('mark, position, channel and tail are joined, wherever the player is', () => {
  const expected = {
    ...stored,
    player: { ...player, ...tail },
    channel,
    youtube_id: 'v1',
    _index: 'av_video',
    _score: 0,
  }
  const more = { youtube_id: 'v1', _index: 'av_video', _score: 0 }

  for (const doc of [
    { ...stored, player },
    { player, ...stored },
    { ...stored, player, comment_count: 3, sponsorblock: { segments: [{ a: {} }] } },
  ]) {
    const text = joinRecord(JSON.stringify(doc), tail, JSON.stringify(channel), more)
    assert.deepEqual(JSON.parse(text), { ...doc, ...expected })
  }
})

test('the channel is read from the media URL', () => {
  assert.equal(channelIdOf(JSON.stringify({ ...stored, player })), 'UC1')
  assert.throws(() => channelIdOf(JSON.stringify({ title: hostile, player })), /media URL/)
  assert.throws(() => joinRecord('{"title":"x"}', tail, '{}', {}), /player/)
})
