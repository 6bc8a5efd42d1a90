/** The button of Moments. */
import type { Press } from '@archivolt/plugin/page'

const press: Press = async ({ api, playing, say, texts }) => {
  const second = Math.floor(playing.position)
  await api.post(`/api/moments/${playing.videoId}/`, { second })
  say(`Kept: ${texts.clock(second)}`)
}

export default press
