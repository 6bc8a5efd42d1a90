/** The subscribe button of a channel or playlist, and the dialog for pasting links to subscribe to. */

import { Check, Rss } from 'lucide'
import { post } from '../server/api.ts'
import type { Begun } from '../server/records.ts'
import { forget } from '../stores/load.ts'
import { t } from '../texts/lookup.ts'
import { subscribe, subscribed } from './adding.ts'
import { askWhatToTake, type Beginning, useBeginning } from './beginning.tsx'
import { Button } from './button.tsx'
import { Dialog, useWhileOpen } from './dialog.tsx'
import { FormButtons } from './form.tsx'
import { LinkField } from './link-field.tsx'
import { say, sayFailure } from './toast.ts'

interface ButtonProps {
  kind: 'channel' | 'playlist'
  id: string
  name: string
  isOn: boolean
  /** Shows the new state before the server confirms it. */
  show: (isOn: boolean) => void
  /** In a list: the accessible name includes the title, and the button is plain. */
  isOneOfMany?: boolean
  /** The view has another main action. */
  isCalm?: boolean
}

const ask = (kind: 'channel' | 'playlist', id: string, isOn: boolean, beginning?: Beginning | { as_before: true }) =>
  post<Begun>(`/api/${kind}/`, {
    data: [{ [`${kind}_id`]: id, [`${kind}_subscribed`]: isOn, ...beginning }],
  })

export function SubscribeButton({ kind, id, name, isOn, show, isOneOfMany = false, isCalm = false }: ButtonProps) {
  const toggle = async () => {
    const beginning = isOn
      ? undefined
      : await askWhatToTake([{ word: id, name, target: { type: kind, id, known: false } }])
    if (!isOn && beginning === undefined) return
    const takeBack = (error: unknown) => {
      show(isOn)
      throw error
    }
    show(!isOn)
    const begun = await ask(kind, id, !isOn, beginning).catch(takeBack)
    forget('list ')
    // The server must first read the channel or playlist from the platform, which takes a while and may fail.
    if (!isOn) say(t('adding.subscribing', { count: 1 }))
    const settle = async () => {
      await subscribed([begun]).catch(takeBack)
      forget('list ')
      if (isOn) say(t('video.nowUnsubscribed', { name }), { undo: resume })
      else say(t('video.nowSubscribed', { name }))
    }
    void settle().catch(sayFailure)
  }
  /** Subscribes again. Videos that the subscription had skipped stay skipped. */
  const resume = async () => {
    await ask(kind, id, true, { as_before: true })
    show(true)
    forget('list ')
    say(t('video.nowSubscribed', { name }))
  }
  const label = isOn ? t('video.subscribed') : t('video.subscribe')
  return (
    <Button
      kind={isOn ? 'quiet' : isOneOfMany || isCalm ? 'plain' : 'main'}
      icon={isOn ? Check : Rss}
      class={isOn ? 'is-on' : ''}
      {...(isOneOfMany && { 'aria-label': isOn ? t('subscribe.on', { name }) : t('subscribe.off', { name }) })}
      onClick={toggle}
    >
      {label}
    </Button>
  )
}

export function SubscribeDialog({ onClose }: { onClose: () => void }) {
  const { beginning, fields } = useBeginning()
  const close = useWhileOpen(onClose)
  return (
    <Dialog title={t('subscribe.title')} onClose={onClose}>
      <LinkField
        label={t('subscribe.links')}
        hint={t('subscribe.hint')}
        missing={t('subscribe.missing')}
        refuse={({ target }) =>
          target.type === 'playlist' && target.id.includes('_playlist_') ? t('subscribe.own') : undefined
        }
        onSend={async (understood) => {
          await subscribe(understood, beginning)
          close()
        }}
        more={fields}
        buttons={({ isUseless }) => (
          <>
            <FormButtons action={t('video.subscribe')} icon={Rss} disabled={isUseless} onCancel={onClose} />
          </>
        )}
      />
    </Dialog>
  )
}
