/** NFO files: one for each video, as media servers read them, updated and removed with it. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { type AppOf, definePlugin } from '@archivolt/plugin'

type App = AppOf<'nfo' | 'media' | 'video'>

const placeOf = ({ media }: App, channelId: string, id: string): string =>
  media.pathOf(channelId, id).replace(/\.[^./]+$/, '.nfo')

/** Safe to repeat, because the file is replaced. A film in a folder of another program gets none. */
async function write(app: App, id: string): Promise<void> {
  const video = await app.videos.get(id)
  if (!video || !app.media.isOurs(id)) return
  const lines = [
    ['title', video.title],
    ['plot', video.description],
    ['aired', video.published],
    ['uniqueid', id],
  ].map(([name, text]) => `  <${name}>${escaped(text!)}</${name}>`)
  const place = placeOf(app, video.channel_id, id)
  // Written to a temporary file and renamed, so that no media server reads an incomplete one. Others may read it, like
  // the film.
  await writeFile(
    `${place}.part`,
    `<?xml version="1.0" encoding="utf-8"?>\n<episodedetails>\n${lines.join('\n')}\n</episodedetails>\n`,
  )
  await rename(`${place}.part`, place)
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '').replace(/[&<>]/g, (sign) => ENTITIES[sign]!)

export default definePlugin({
  name: 'nfo',
  api: 1,
  needs: ['media', 'video'],
  on: {
    'video.added': (app) => ({ id }) => write(app, id),
    'video.moved': (app) => ({ id }) => write(app, id),
    'video.changed': (app) => async ({ id, what }) => {
      if (what === 'metadata') await write(app, id)
    },
    'video.removed': (app) => ({ id, channelId }) => rm(placeOf(app, channelId, id), { force: true }),
  },
})
