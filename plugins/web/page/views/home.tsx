/** Home: started videos, new videos, then all videos with the filters and the order in the page's address. */
import { useSignal } from '@preact/signals'
import { ChevronDown, LibraryBig, X } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { changeQuery, navigate, route } from '../browser/router.ts'
import { Button } from '../parts/button.tsx'
import type ComingCards from '../parts/coming-cards.tsx'
import { Chips } from '../parts/field.tsx'
import { GroupChips, groupOfAddress } from '../parts/groups.tsx'
import { Icon } from '../parts/icon.tsx'
import { fromMonth, isLong, MonthChip, MonthSlider, monthOfAddress } from '../parts/months.tsx'
import { Picker } from '../parts/picker.tsx'
import { SavedFilters } from '../parts/saved-filters.tsx'
import { Empty } from '../parts/states.tsx'
import { GhostStrip, Strip } from '../parts/strip.tsx'
import { sayFailure } from '../parts/toast.ts'
import { TripChip } from '../parts/trip.tsx'
import { listSource } from '../parts/trip-source.ts'
import { videoActions } from '../parts/video-actions.ts'
import { filtersOfAddress, orderOfAddress, styleOf, VideoFilterBar } from '../parts/video-filters.tsx'
import { isStale, VideoList, videoList } from '../parts/video-list.tsx'
import { toVideoRow } from '../parts/video-row.ts'
import { positionSaving } from '../player/position.ts'
import { get, post, type Query } from '../server/api.ts'
import { under } from '../server/base.ts'
import { listen, notifications } from '../server/events.ts'
import type { Channel, Item, Playlist } from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import { isMore } from '../stores/list.ts'
import { forget, PREFERENCES_KEY, useLoad } from '../stores/load.ts'
import { offlineVideos } from '../stores/offline-videos.ts'
import { isAdmin, isWelcomeDue, shelves } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { Rescues } from './channel/rescue.tsx'

const SORTS = [
  'published',
  'published.asc',
  'downloaded',
  'views',
  'likes',
  'duration',
  'duration.asc',
  'mediasize',
  'lost',
] as const

/** Up to this number of new videos, there is no strip for them, because the list shows them. */
const MANY = 24
const STRIP = 12
/** Up to this number of videos in the archive, the videos that are being downloaded are shown above them. */
const FEW = 12

export default function Home() {
  const { query } = route.value
  const style = styleOf('home')
  const filters = filtersOfAddress(SORTS, style)
  const { watch, type, by, order } = filters
  const channel = query.get('channel') ?? ''
  const playlist = query.get('playlist') ?? ''
  const group = groupOfAddress()
  const quality = query.get('quality') === 'degraded' ? 'degraded' : ''
  const isByDay = playlist === '' && by === 'published' && (watch !== 'continue' || query.has('sort'))
  const lost = query.get('lost') === null ? '' : 'any'
  const month = isByDay ? monthOfAddress() : ''
  const firstDay = useSignal('')
  const isFiltered = [watch, type, channel, playlist, group, quality, lost, month].some((one) => one !== '')
  const chosen: Query = { watch, type, quality, lost, channel, playlist, group }
  const asked: Query = {
    ...chosen,
    ...fromMonth(month, order),
    ...(playlist === '' && (watch !== 'continue' || query.has('sort')) && { sort: by, order }),
  }
  const byDay = by === 'published' && 'sort' in asked ? order : undefined
  const list = videoList('/api/video/', asked, byDay)
  useEffect(() => void list.reach(1), [list])
  // An empty archive has nothing to filter, so Home shows only the first step.
  const isEmpty = !isFiltered && list.total.value === 0
  const beginning = useBeginning()
  // The list is rendered only once the height of the strips is known, so that nothing moves under the pointer.
  const isSteady = useRef(false)
  isSteady.current ||= beginning.isKnown
  const isShown = isFiltered || isSteady.current
  const [coming] = notifications.value.filter(({ group, level }) => ON_THEIR_WAY.test(group) && level === 'info')
  const isBeginningToFill = coming !== undefined && !isFiltered && !isMore(list.total.value, FEW)

  return (
    <>
      <h1 class="unseen">{t('nav.home')}</h1>
      {isAdmin.value && <OpenChoices />}
      <Rescues />
      {!isFiltered && <Beginning {...beginning} />}
      {isShown && isBeginningToFill && <Coming text={coming.messages[0]} />}
      {isShown && !isEmpty && <GroupChips />}
      {isShown && !isEmpty && (
        <VideoFilterBar filters={filters} sorts={playlist === '' ? SORTS : []} view="home">
          {quality !== '' && (
            <Chips
              label={t('home.quality')}
              value={quality}
              choices={[{ value: quality, label: t('home.quality.degraded') }]}
              onChange={() => changeQuery({ quality: '' })}
            />
          )}
          {isThere('history') && (
            <button
              type="button"
              class="chip"
              aria-pressed={lost !== ''}
              onClick={() => changeQuery({ lost: lost === '' ? 'any' : '', sort: lost === '' ? 'lost' : '' })}
            >
              {t('home.lost')}
            </button>
          )}
          <PickChip kind="channel" id={channel} />
          <PickChip kind="playlist" id={playlist} />
          {month !== '' && <MonthChip month={month} />}
          <SavedFilters />
          <TripChip source={listSource('', '/api/video/', asked)} />
        </VideoFilterBar>
      )}
      {isShown && isByDay && (month !== '' || isLong(list.total.value)) && (
        <MonthSlider query={chosen} order={order} at={firstDay} />
      )}
      {isShown && (
        <VideoList
          key={JSON.stringify(asked)}
          label={t('home.all')}
          path="/api/video/"
          query={asked}
          style={style}
          order={playlist === '' ? orderOfAddress('sort' in asked ? by : '', order) : undefined}
          byDay={byDay}
          {...(isByDay && { onFirst: ({ published }: { published: string }) => void (firstDay.value = published) })}
          {...(playlist !== '' && { linkQuery: `?list=${playlist}` })}
          actions={(row, list) => videoActions(row, () => list.drop(row.id))}
          empty={isFiltered ? <NothingFits /> : isBeginningToFill ? null : <Nothing />}
        />
      )}
    </>
  )
}

/** Strips, which are shown only if they have videos. */
function useBeginning() {
  const begun = videoList('/api/video/', { watch: 'continue' })
  const fresh = videoList('/api/video/', { watch: 'unwatched', sort: 'downloaded' })
  const lost = shelves.value.includes('lost') ? videoList('/api/video/', { lost: 'any', sort: 'lost' }) : undefined
  const isKnown = [begun, fresh, lost].every(
    (list) => !list || list.total.value !== undefined || list.state.value === 'failed',
  )
  return { begun, fresh, lost, isKnown }
}

function Beginning({ begun, fresh, lost, isKnown }: ReturnType<typeof useBeginning>) {
  useEffect(() => {
    const saving = positionSaving()
    if (saving) void begun.reach(1)
    void (saving ? saving.then(() => begun.reload()) : begun.reload())
    void fresh.reload()
    void lost?.reload()
    return listen('missed', () => [begun, fresh, lost].forEach((list) => list && isStale(list) && void list.reload()))
  }, [begun, fresh, lost])
  if (!isKnown)
    return (
      <div class="home-section">
        <GhostStrip />
      </div>
    )
  const rows = {
    continue: begun.rows.value.slice(0, STRIP),
    new: isMore(fresh.total.value, MANY) ? fresh.rows.value.slice(0, STRIP) : [],
    lost: lost?.rows.value.slice(0, STRIP) ?? [],
  }
  const shown = (['continue', 'new', 'lost'] as const).filter((key) => rows[key].length > 0)
  const here = offlineVideos.value.filter(({ isWhole }) => isWhole).map(({ video }) => toVideoRow(video))
  return (
    <>
      {here.length > 0 && (
        <section class="home-section">
          <h2>{t('home.device')}</h2>
          <Strip label={t('home.device')} rows={here} />
        </section>
      )}
      {shown.map((key) => (
        <section key={key} class="home-section">
          <h2>{t(`home.${key}`)}</h2>
          {key === 'lost' && <a href={under('/?lost=any&sort=lost')}>{t('home.lost.all')}</a>}
          <Strip label={t(`home.${key}`)} rows={rows[key]} />
        </section>
      ))}
      {shown.length + here.length > 0 && <h2 class="home-all">{t('home.all')}</h2>}
    </>
  )
}

const NAMES = {
  channel: async (id: string) => (await get<Item<Channel>>(`/api/channel/${id}/`)).data.channel_name,
  playlist: async (id: string) => (await get<Item<Playlist>>(`/api/playlist/${id}/`)).data.playlist_name,
}

/** The filter by a channel or playlist: chosen in a dialog, and removed by a click. */
function PickChip({ kind, id }: { kind: 'channel' | 'playlist'; id: string }) {
  const isOpen = useSignal(false)
  const { now } = useLoad(`name/${kind}/${id}`, async () => (id === '' ? '' : NAMES[kind](id)))
  const label = t(`home.${kind}`)
  if (id !== '') {
    return (
      <button
        type="button"
        class="chip"
        aria-pressed="true"
        aria-label={t('home.clear', { what: now.value.value || label })}
        onClick={() => changeQuery({ [kind]: '' })}
      >
        <span class="chip-name">{now.value.value || label}</span>
        <Icon node={X} size={16} />
      </button>
    )
  }
  return (
    <>
      <button type="button" class="chip" aria-haspopup="dialog" onClick={() => void (isOpen.value = true)}>
        {label}
        <Icon node={ChevronDown} size={16} />
      </button>
      {isOpen.value && (
        <Picker
          kind={kind}
          title={label}
          onClose={() => void (isOpen.value = false)}
          onPick={(found) => {
            isOpen.value = false
            changeQuery({ [kind]: found.id })
          }}
        />
      )}
    </>
  )
}

/** Reminds an admin of the choices on the welcome page until they are made or declined. */
function OpenChoices() {
  if (!isWelcomeDue.value) return null
  const putOff = async () => {
    await post('/api/config/', { page: { welcomed: true } })
    forget(PREFERENCES_KEY)
    isWelcomeDue.value = false
  }
  return (
    <div class="home-choices">
      <span>{t('welcome.open')}</span>
      <Button kind="quiet" onClick={() => putOff()}>
        {t('welcome.later')}
      </Button>
      <a class="button plain" href={under('/welcome/')}>
        {t('welcome.open.do')}
      </a>
    </div>
  )
}

const ON_THEIR_WAY = /^(download|subscription):/

/** The videos that are being downloaded. Their module is loaded only while the archive has few videos. */
function Coming({ text }: { text: string | undefined }) {
  const [Cards, setCards] = useState<typeof ComingCards>()
  useEffect(() => {
    import('../parts/coming-cards.tsx').then(({ default: loaded }) => setCards(() => loaded), sayFailure)
  }, [])
  return (
    <section class="home-section">
      <h2>{t('home.coming')}</h2>
      <p class="hint" role="status">
        {text} {isAdmin.value && <a href={under('/downloads/')}>{t('home.coming.show')}</a>}
      </p>
      {Cards && <Cards />}
    </section>
  )
}

const Nothing = () => (
  <Empty icon={LibraryBig} title={t('home.empty')} text={t('home.empty.text')}>
    <a class="button main" href={under('/welcome/')}>
      {t('home.empty.begin')}
    </a>
  </Empty>
)

const NothingFits = () => (
  <Empty title={t('home.nothing')}>
    <Button onClick={() => navigate('/', { isReplacing: true })}>{t('home.clearAll')}</Button>
  </Empty>
)
