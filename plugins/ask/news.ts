/** Reports asks: to admins on the page, and to external addresses by messages and webhooks. */
import { defineTask, say, Type } from 'archivolt'
import type { App } from './app.ts'
import type { Answer, Ask } from './tables.ts'

const TITLE = 'A child asks for a video'

export const askMade = defineTask({
  name: 'ask_made',
  title: TITLE,
  payload: Type.Object({ name: Type.String(), title: Type.String(), url: Type.String() }),
  lane: 'light',
  silent: true,
  resumable: true,
  outgoing: 'news',
  run: async ({ payload: { name, title, url } }) => say`${{ name }} asks for “${{ title }}”: ${{ url }}`,
})

/** How long the message is shown; the page under Settings shows waiting asks for longer. */
const SHOWN_SECONDS = 7 * 24 * 3600
const ANSWERED_SECONDS = 20
const PAGE = 'settings/users/'

export function openAskNews(app: Pick<App, 'accounts' | 'jobs' | 'emit' | 'schedules' | 'publicUrl'>) {
  const nameOf = ({ user_id }: Ask) => app.accounts.get(user_id)?.username ?? ''
  const told = (ask: Ask) => ({ id: ask.id, username: nameOf(ask), video_id: ask.video_id, title: ask.title })

  /** Shows the message only on the page. */
  const show = (ask: Ask, isWaiting: (id: number) => boolean): Promise<void> =>
    app.jobs.notify({
      title: TITLE,
      group: `ask:${ask.id}`,
      level: 'info',
      messages: [say`${{ name: nameOf(ask) }} asks for “${{ title: ask.title }}”`],
      shownForSeconds: SHOWN_SECONDS,
      isOver: () => !isWaiting(ask.id),
      isForAdmins: true,
    })

  return {
    show,
    async asked(ask: Ask, isWaiting: (id: number) => boolean): Promise<void> {
      await show(ask, isWaiting)
      await app.emit('ask.made', told(ask))
      const { username: name, title } = told(ask)
      if (app.schedules.outgoing()[askMade.name])
        await app.jobs.start(askMade, { name, title, url: `${app.publicUrl() ?? '/'}${PAGE}` })
    },

    async answered(ask: Ask, answer: Answer, { username: admin }: { username: string }): Promise<void> {
      const [name, title] = [nameOf(ask), ask.title]
      await app.jobs.notify({
        title: TITLE,
        group: 'ask:answered',
        level: 'info',
        messages: [
          answer === 'no'
            ? say`${{ admin }} said no to ${{ name }}: “${{ title }}”`
            : say`${{ admin }} has allowed ${{ name }} “${{ title }}”`,
        ],
        shownForSeconds: ANSWERED_SECONDS,
        isForAdmins: true,
      })
      await app.emit('ask.answered', { ...told(ask), answer })
    },
  }
}
