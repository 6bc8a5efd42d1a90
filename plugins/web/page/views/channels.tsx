/** Channels: all of them by name, filtered while typing, with the subscribe dialog. */
import { useSignal } from '@preact/signals'
import { RefreshCw, Rss, Search, Tags, TvMinimalPlay } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isSofa } from '../browser/layout.ts'
import { changeQuery, route } from '../browser/router.ts'
import { Button } from '../parts/button.tsx'
import { Chips } from '../parts/field.tsx'
import { GroupChips, groupOfAddress } from '../parts/groups.tsx'
import { Icon } from '../parts/icon.tsx'
import { ListGrid } from '../parts/list-grid.tsx'
import { platformOf } from '../parts/platform-link.ts'
import { Portrait } from '../parts/portrait.tsx'
import { Box, Empty } from '../parts/states.tsx'
import { Subscribers } from '../parts/subscribers.tsx'
import { SubscribeButton, SubscribeDialog } from '../parts/subscription.tsx'
import { say } from '../parts/toast.ts'
import { post } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Channel } from '../server/records.ts'
import { useTaskEnd } from '../stores/jobs.ts'
import { isThere } from '../stores/left-out.ts'
import { cachedList, type List } from '../stores/list.ts'
import { isAdmin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'

const SHOWN = ['', 'subscribed', 'unsubscribed'] as const
const AHEAD = 36
const CARD_PX = 72
const SOFA_CARD_PX = 108
const REST_MS = 200
/** No name is longer; the server accepts more. */
const LONGEST_NAME = 200

export default function Channels() {
  const { query } = route.value
  const asked = query.get('show')
  const show = SHOWN.find((one) => one === asked) ?? ''
  const name = (query.get('q') ?? '').slice(0, LONGEST_NAME)
  const group = groupOfAddress()
  const isAsking = useSignal(false)
  const list = cachedList<Channel, Channel>(`channels ${show} ${group} ${name}`, {
    path: '/api/channel/',
    query: { filter: show, group, q: name },
    idOf: ({ channel_id }) => channel_id,
    toRow: (channel) => channel,
  })
  const height = isSofa.value ? SOFA_CARD_PX : CARD_PX
  const isFiltered = show !== '' || group !== '' || name !== ''
  useTaskEnd(['subscribe_to', 'update_subscribed'], () => void list.reload())
  const scan = () => post('/api/task-name/update_subscribed/').then(() => say(t('channels.scanning')))

  return (
    <div class="channels">
      <header class="page-head">
        <h1>{t('nav.channels')}</h1>
        {isAdmin.value && (
          <div class="page-actions">
            {isThere('rules') && (
              <a class="button" href={under('/settings/groups/')}>
                <Icon node={Tags} />
                {t('groups')}
              </a>
            )}
            <Button icon={RefreshCw} onClick={scan}>
              {t('channels.scan')}
            </Button>
            <Button kind="main" icon={Rss} onClick={() => void (isAsking.value = true)}>
              {t('video.subscribe')}
            </Button>
          </div>
        )}
      </header>
      <GroupChips />
      <div class="list-filters">
        <Chips
          label={t('channels.show')}
          value={show}
          choices={SHOWN.map((value) => ({ value, label: t(`channels.show.${value}`) }))}
          onChange={(value) => changeQuery({ show: value })}
        />
        <NameFilter value={name} />
      </div>
      <ListGrid
        list={list}
        label={t('nav.channels')}
        ahead={AHEAD}
        minWidth={isSofa.value ? 640 : 320}
        gap={12}
        heightOf={() => height}
        ghost={<Box height={`${height}px`} radius="10px" />}
        empty={isFiltered ? <NothingFits /> : <Nothing onSubscribe={() => void (isAsking.value = true)} />}
        render={(channel) => <ChannelCard channel={channel} list={list} />}
      />
      {isAsking.value && <SubscribeDialog onClose={() => void (isAsking.value = false)} />}
    </div>
  )
}

/** The typed text is written to the address after a pause. */
function NameFilter({ value }: { value: string }) {
  const [text, setText] = useState(value)
  /** The value that this field has written to the address. */
  const written = useRef(value)
  useEffect(() => {
    if (text.trim() === value) return
    const timer = setTimeout(() => {
      written.current = text.trim()
      changeQuery({ q: written.current })
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [text])
  useEffect(() => {
    // Not the field's own value: on a slow device, somebody has typed further since.
    if (value !== written.current) setText(value)
    written.current = value
  }, [value])
  return (
    <div class="name-filter">
      <Icon node={Search} size={16} />
      <input
        type="search"
        aria-label={t('channels.find')}
        placeholder={t('channels.find')}
        value={text}
        maxLength={LONGEST_NAME}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </div>
  )
}

function ChannelCard({ channel, list }: { channel: Channel; list: List<Channel> }) {
  const { channel_id: id, channel_name: name } = channel
  return (
    <article class="channel-card">
      <Portrait url={channel.channel_thumb_url} name={name} size={48} />
      <div class="channel-words">
        <p class="channel-name">
          <a href={under(`/channel/${id}/`)} dir="auto">
            {name}
          </a>
        </p>
        <p class="meta">
          <Subscribers count={channel.channel_subs} />
          {!channel.channel_active && <span class="gone">{t('video.gone', { platform: platformOf(channel) })}</span>}
          {!isAdmin.value && channel.channel_subscribed && <span>{t('video.subscribed')}</span>}
        </p>
      </div>
      {isAdmin.value && (
        <SubscribeButton
          kind="channel"
          id={id}
          name={name}
          isOn={channel.channel_subscribed}
          isOneOfMany
          show={(isOn) => list.change(id, (now) => ({ ...now, channel_subscribed: isOn }))}
        />
      )}
    </article>
  )
}

const NothingFits = () => (
  <Empty title={t('channels.nothing')}>
    <Button onClick={() => changeQuery({ show: '', group: '', q: '' })}>{t('home.clearAll')}</Button>
  </Empty>
)

const Nothing = ({ onSubscribe }: { onSubscribe: () => void }) => (
  <Empty icon={TvMinimalPlay} title={t('channels.empty')} text={t('channels.empty.text')}>
    {isAdmin.value && (
      <Button kind="main" icon={Rss} onClick={onSubscribe}>
        {t('video.subscribe')}
      </Button>
    )}
  </Empty>
)
