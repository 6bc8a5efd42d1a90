/**
 * Captions: a source of subtitles. A video without subtitles in a language gets them from a server if that has them.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AppOf, definePlugin, type PreferencesOf, Type } from '@archivolt/plugin'

const preferences = {
  captions: {
    server: Type.String({
      title: 'Server with subtitles',
      description: 'Is asked for <id>.<language>.vtt below this address. Empty: none.',
      pattern: '^(https?://[^\\s?#]+/)?$',
      maxLength: 2000,
      default: '',
    }),
    language: Type.String({ title: 'Language', pattern: '^[A-Za-z0-9-]{1,35}$', default: 'en' }),
  },
}

type App = AppOf<'captions' | 'media' | 'video'>

/** Safe to repeat, because it adds only missing subtitles. After an error it is called again. */
async function find(app: App, id: string): Promise<void> {
  const { server, language: lang } = app.preferences.section('captions')
  const video = await app.videos.get(id)
  if (server === '' || !video || video.subtitles.some((one) => one.lang === lang)) return
  const url = new URL(`${encodeURIComponent(id)}.${lang}.vtt`, server).href
  const reply = await app.fetch(url)
  if (reply.status === 404) return
  const text = await reply.text()
  if (!reply.ok || !/^\uFEFF?WEBVTT\b/.test(text)) throw new Error(`no subtitles, but status ${reply.status}`)
  await app.media.scratch(async (folder) => {
    const path = join(folder, `${id}.${lang}.vtt`)
    await writeFile(path, text)
    await app.videos.setSubtitles(id, [{ lang, name: lang, source: 'file', url, path }], { onlyMissing: true })
  })
}

export default definePlugin({
  name: 'captions',
  api: 1,
  needs: ['media', 'video'],
  preferences,
  on: { 'video.added': (app) => ({ id }) => find(app, id) },
})

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    captions: PreferencesOf<typeof preferences.captions>
  }
}
