/** Subscribing and ending it: the button of a channel or playlist, and the dialog in which anything may be pasted. */
import { Check, Rss } from 'lucide'
import { subscribe, subscribed, type Begun } from '../adding.ts'
import { post } from '../api.ts'
import { forget } from '../load.ts'
import { t } from '../texts.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { LinkField } from './link-field.tsx'
import { say, sayFailure } from './toast.tsx'

interface ButtonProps {
  kind: 'channel' | 'playlist'
  id: string
  name: string
  isOn: boolean
  /** Shows it before the server has said so. */
  show: (isOn: boolean) => void
  /** Among many of its like: the accessible name says whose it is, and none stands out. */
  isOneOfMany?: boolean
  /** Something else is the main thing here. */
  isCalm?: boolean
}

const ask = {
  channel: async (id: string, isOn: boolean) => void (await post(`/api/channel/${id}/`, { channel_subscribed: isOn })),
  // It is read from the platform first: that may fail.
  playlist: async (id: string, isOn: boolean) => subscribed([await post<Begun>('/api/playlist/', { data: [{ playlist_id: id, playlist_subscribed: isOn }] })]),
}

export function SubscribeButton({ kind, id, name, isOn, show, isOneOfMany = false, isCalm = false }: ButtonProps) {
  const toggle = async () => {
    show(!isOn)
    try {
      await ask[kind](id, !isOn)
      forget('list ')
      say(isOn ? t('video.nowUnsubscribed', { name }) : t('video.nowSubscribed', { name }))
    } catch (error) {
      show(isOn)
      sayFailure(error)
    }
  }
  const label = isOn ? t('video.subscribed') : t('video.subscribe')
  return (
    <Button kind={isOn ? 'quiet' : isOneOfMany || isCalm ? 'plain' : 'main'} icon={isOn ? Check : Rss} class={isOn ? 'is-on' : ''} {...(isOneOfMany && { 'aria-label': isOn ? t('subscribe.on', { name }) : t('subscribe.off', { name }) })} onClick={() => void toggle()}>
      {label}
    </Button>
  )
}

export function SubscribeDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('subscribe.title')} onClose={onClose}>
      <LinkField
        label={t('subscribe.links')}
        hint={t('subscribe.hint')}
        missing={t('subscribe.missing')}
        refuse={({ target }) => (target.type === 'playlist' && target.id.includes('_playlist_') ? t('subscribe.own') : undefined)}
        onSend={async (understood) => {
          await subscribe(understood)
          onClose()
        }}
        buttons={({ isBusy }) => (
          <>
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button type="submit" kind="main" icon={Rss} isBusy={isBusy}>
              {t('video.subscribe')}
            </Button>
          </>
        )}
      />
    </Dialog>
  )
}
