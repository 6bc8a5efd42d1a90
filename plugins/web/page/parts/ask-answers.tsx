/** The buttons for answering a child's ask, in the notification that tells admins of the ask. */
import { post } from '../server/api.ts'
import type { Notification } from '../server/records.ts'
import { isAdmin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'

export const ANSWERS = ['video', 'channel', 'no'] as const

/** The id of the ask that a notification is about. */
export const askIn = (group: string): string | undefined => /^ask:(\d+)$/.exec(group)?.[1]

export function AskAnswers({ one: { group, messages } }: { one: Notification }) {
  const id = askIn(group)
  if (id === undefined || !isAdmin.value) return null
  return (
    <div class="steps">
      {ANSWERS.map((answer) => (
        <Button key={answer} of={messages[0]} onClick={() => post(`/api/ask/${id}/`, { answer })}>
          {t(`ask.answer.${answer}`)}
        </Button>
      ))}
    </div>
  )
}
