/** The asks of children: each is allowed, alone or with its channel, or refused. */
import { ANSWERS } from '../../parts/ask-answers.tsx'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Ask } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toMoment } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

export function Asks() {
  const asks = useLoad<Ask[]>('settings/asks', (signal) => get('/api/ask/', {}, signal))
  const answer = async ({ id, username }: Ask, given: (typeof ANSWERS)[number]) => {
    await post(`/api/ask/${id}/`, { answer: given })
    await asks.reload()
    say(t(given === 'no' ? 'ask.refused' : 'ask.allowed', { name: username }))
  }
  const waiting = asks.now.value.value ?? []
  if (waiting.length === 0) return null
  return (
    <Group title={t('ask.waiting')} hint={t('ask.waiting.hint')}>
      <ul class="settings-rows">
        {waiting.map((ask) => (
          <li key={ask.id}>
            <div class="row-words">
              <strong dir="auto">
                {ask.is_away ? ask.title : <a href={under(`/video/${ask.video_id}/`)}>{ask.title}</a>}
              </strong>
              <p class="meta">
                {t('ask.from', { name: ask.username, channel: ask.channel_name, when: toMoment(ask.asked) })}
                {ask.is_away && ` · ${t('ask.away')}`}
              </p>
            </div>
            {ANSWERS.map((one) => (
              <Button key={one} of={ask.title} onClick={() => answer(ask, one)}>
                {t(`ask.answer.${one}`)}
              </Button>
            ))}
          </li>
        ))}
      </ul>
    </Group>
  )
}
