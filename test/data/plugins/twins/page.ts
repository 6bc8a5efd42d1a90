/** The page of Twins: the results, with a button for admins that starts a new search. */
import type { Start } from '@archivolt/plugin/page'

interface Twins {
  title: string
  ids: string[]
}

interface Video {
  data: { title: string; vid_thumb_url: string; media_size: number; date_downloaded: number }
}

const start: Start = async ({ root, api, reader, texts, components }) => {
  const { button, empty, heading, list, notice, text } = components

  const lookAgain = async (): Promise<void> => {
    await api.post('/api/task-name/twins.find/')
    root.append(notice('Looking. Come back in a moment.'))
  }

  async function twinsOf({ title, ids }: Twins): Promise<HTMLElement[]> {
    const videos = await Promise.all(ids.map((id) => api.get<Video>(`/api/video/${id}/`)))
    const rows = videos.map(({ data }, position) => ({
      title: data.title,
      text: `${texts.bytes(data.media_size)} · ${texts.age(data.date_downloaded)}`,
      to: `/video/${ids[position]}/`,
      picture: data.vid_thumb_url,
    }))
    return [heading(title), list(rows)]
  }

  const { data } = await api.get<{ data: Twins[] }>('/api/twins/')
  for (const twins of data) root.append(...(await twinsOf(twins)))
  if (data.length === 0) root.append(empty('No twins', text('Every video has a title of its own.')))
  if (reader.isAdmin) root.append(button('Look again', lookAgain))
}

export default start
