/** The answers to a child's ask, on the message that tells admins of it. */
import { Button } from '../parts/button.tsx'
import { post } from '../server/api.ts'
import type { Notification } from '../server/records.ts'
import { isAdmin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'

const ANSWERS = ['video', 'channel', 'no'] as const

export function AskAnswers({ one: { group, messages } }: { one: Notification }) {
  const [, id] = /^ask:(\d+)$/.exec(group) ?? []
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
