/** The page of Moments: each entry links to its position. */
import type { Start } from '@archivolt/plugin/page'

interface Moment {
  video: string
  title: string
  second: number
}

const start: Start = async ({ root, api, texts, components }) => {
  const { button, empty, list, text } = components

  async function show(): Promise<void> {
    const data: Moment[] = []
    for (let page = 1; page > 0; ) {
      const part = await api.get<{ data: Moment[]; paginate: { last_page: number } }>('/api/moments/', { page })
      data.push(...part.data)
      page = part.paginate.last_page === 0 ? 0 : page + 1
    }
    const rows = data.map(({ video, title, second }) => ({
      title,
      text: texts.clock(second),
      to: `/video/${video}/?t=${second}`,
      actions: [
        button('Remove', async () => {
          await api.remove(`/api/moments/${video}/`, { second })
          await show()
        }),
      ],
    }))
    root.replaceChildren(data.length > 0 ? list(rows) : empty('No moments', text('Keep one in the player’s menu.')))
  }

  await show()
}

export default start
