/** Reports asks: to admins on the page, and to external addresses by messages and webhooks. */
import { defineTask, say, Type } from 'archivolt'
import type { App } from './app.ts'
import type { Answer, Ask } from './tables.ts'

export const askMade = defineTask({
  name: 'ask_made',
  title: 'A child asks for a video',
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

export interface AskNews {
  asked(ask: Ask, isWaiting: (id: number) => boolean): Promise<void>
  /** Shows the message only on the page. */
  show(ask: Ask, isWaiting: (id: number) => boolean): Promise<void>
  answered(ask: Ask, answer: Answer, admin: { username: string }): Promise<void>
}

export function openAskNews(app: Pick<App, 'accounts' | 'jobs' | 'emit' | 'schedules' | 'publicUrl'>): AskNews {
  const nameOf = ({ user_id }: Ask) => app.accounts.get(user_id)?.username ?? ''
  const told = (ask: Ask) => ({ id: ask.id, username: nameOf(ask), video_id: ask.video_id, title: ask.title })

  const show: AskNews['show'] = (ask, isWaiting) =>
    app.jobs.notify({
      title: 'A child asks for a video',
      group: `ask:${ask.id}`,
      level: 'info',
      messages: [say`${{ name: nameOf(ask) }} asks for “${{ title: ask.title }}”`],
      shownForSeconds: SHOWN_SECONDS,
      isOver: () => !isWaiting(ask.id),
      isForAdmins: true,
    })

  return {
    show,
    async asked(ask, isWaiting) {
      await show(ask, isWaiting)
      await app.emit('ask.made', told(ask))
      const { username: name, title } = told(ask)
      if (app.schedules.outgoing()[askMade.name])
        await app.jobs.start(askMade, { name, title, url: `${app.publicUrl() ?? '/'}${PAGE}` })
    },

    async answered(ask, answer, { username: admin }) {
      const [name, title] = [nameOf(ask), ask.title]
      await app.jobs.notify({
        title: 'A child asks for a video',
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
