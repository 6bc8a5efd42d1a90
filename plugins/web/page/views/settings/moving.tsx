/** Move in: folders of other programs, what was found in them, and the way in and out again. */

import { FolderPlus, ListChecks, LogIn, Search, Trash, Undo2 } from 'lucide'
import { useMemo, useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field, Select, Switch } from '../../parts/field.tsx'
import { say, sayFailure } from '../../parts/toast.tsx'
import { get, post, remove, toFailure } from '../../server/api.ts'
import type { Account, Adoption, AdoptionItem, Adoptions, Discarded, Place, Places } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { forget, type Load, useLoad } from '../../stores/load.ts'
import { account as own } from '../../stores/session.ts'
import { toAge, toBytes, toMoment } from '../../texts/format.ts'
import { t } from '../../texts/texts.ts'
import { Loaded } from './loaded.tsx'
import { Group } from './option.tsx'

const TASKS = ['scan_place', 'adopt_videos', 'complete_videos', 'undo_adoption']
const OUTCOMES = ['new', 'ask', 'moved', 'known', 'removed', 'problem'] as const
/** Which not every browser plays. */
const UNSURE = ['mkv', 'mov', 'avi', 'flv', 'wmv', 'mpg', 'mpeg', 'ts', 'm2ts', '3gp', 'ogv', 'mka']

/** What comes along beside films, of everybody there: the first two unless somebody says otherwise. */
const KINDS = ['keep', 'ignore', 'channel', 'playlist'] as const
const SAFE: readonly Kind[] = ['keep', 'ignore']
type Kind = (typeof KINDS)[number]

interface Both {
  places: Places
  adoptions: Adoptions
  accounts: Account[]
}

export function MovingSection() {
  const both = useLoad<Both>('settings/moving', async (signal) => {
    const [places, adoptions, accounts] = await Promise.all([
      get<Places>('/api/place/', {}, signal),
      get<Adoptions>('/api/adoption/', {}, signal),
      get<Account[]>('/api/user/', {}, signal),
    ])
    return { places, adoptions, accounts }
  })
  useJobs(TASKS, () => void both.reload())
  return (
    <>
      <p class="settings-lead">{t('settings.moving.lead')}</p>
      <Loaded from={both}>
        {({ places: { places, roots }, adoptions: { adoptions }, accounts }) => (
          <>
            <Folders places={places} roots={roots} adoptions={adoptions} both={both} />
            {places.flatMap((place) =>
              adoptions
                .filter((one) => one.place === place.id)
                .filter(({ state }, at) => at === 0 || state === 'adopted')
                .map((one) => (
                  <Plan key={one.id} adoption={one} place={place} accounts={accounts} reload={both.reload} />
                )),
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

const isBusy = ({ state }: Adoption): boolean => state === 'scanning' || state === 'adopting' || state === 'undoing'

function Folders({
  places,
  roots,
  adoptions,
  both,
}: {
  places: Place[]
  roots: string[]
  adoptions: Adoption[]
  both: Load<Both>
}) {
  const [path, setPath] = useState('')
  const [error, setError] = useState<string>()
  const add = async () => {
    try {
      setError(undefined)
      await post('/api/place/', { path: path.trim() })
      setPath('')
      await both.reload()
    } catch (thrown) {
      setError(toFailure(thrown).message)
    }
  }
  const look = async ({ id, label }: Place) => {
    await post('/api/adoption/', { place: id })
    say(t('settings.moving.looking', { name: label }))
    await both.reload()
  }
  const follow = async ({ id }: Place, isOn: boolean) => {
    await post(`/api/place/${id}/`, { follow: isOn })
    await both.reload()
  }
  const mark = async ({ id, label: name }: Place, isOn: boolean) => {
    const isSure =
      !isOn ||
      (await confirm({
        title: t('settings.moving.ours.title'),
        text: <p>{t('settings.moving.ours.text', { name })}</p>,
        action: t('settings.moving.ours.yes'),
      }))
    if (isSure) await post(`/api/place/${id}/`, { ours: isOn })
    await both.reload()
  }
  const drop = async ({ id }: Place) => {
    await remove(`/api/place/${id}/`)
    await both.reload()
  }
  return (
    <Group title={t('settings.moving.places')}>
      {places.length === 0 && <p class="option-line">{t('settings.moving.none')}</p>}
      <ul class="settings-rows">
        {places.map((place) => (
          <li key={place.id}>
            <div class="row-words">
              <strong dir="auto">{place.label}</strong>
              <p class="meta">
                {place.path} · {t('settings.moving.videos', { count: place.videos })}
                {place.state === 'away' && ` · ${t('video.awayShort')}`}
              </p>
              <Switch
                label={t('settings.moving.follow', { name: place.label })}
                isOn={place.follow}
                onChange={(isOn) => void follow(place, isOn).catch(sayFailure)}
              />
              <Switch
                label={t('settings.moving.ours', { name: place.label })}
                hint={t('settings.moving.ours.hint')}
                isOn={place.ours}
                onChange={(isOn) => void mark(place, isOn).catch(sayFailure)}
              />
              {place.trash > 0 && <PlaceTrash key={place.trash} place={place} reload={both.reload} />}
            </div>
            <Button
              icon={Search}
              disabled={adoptions.some((one) => one.place === place.id && isBusy(one))}
              aria-label={t('settings.moving.lookOf', { name: place.label })}
              onClick={() => void look(place).catch(sayFailure)}
            >
              {t('settings.moving.look')}
            </Button>
            {place.videos === 0 && (
              <IconButton
                icon={Trash}
                label={t('settings.moving.forgetOf', { name: place.label })}
                onClick={() => void drop(place).catch(sayFailure)}
              />
            )}
          </li>
        ))}
      </ul>
      <form
        class="option-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <Field
          label={t('settings.moving.path')}
          value={path}
          onInput={setPath}
          error={error}
          hint={t('settings.moving.path.hint', { roots: roots.join(', ') })}
          placeholder={roots[0] ?? ''}
        />
        <div class="buttons">
          <Button icon={FolderPlus} type="submit" disabled={path.trim() === ''}>
            {t('settings.moving.add')}
          </Button>
        </div>
      </form>
    </Group>
  )
}

function PlaceTrash({ place: { id, ours, trash }, reload }: { place: Place; reload: () => Promise<void> }) {
  const [films, setFilms] = useState<Discarded[]>()
  const show = async () => {
    const { data } = await get<{ data: Discarded[] }>(`/api/place/${id}/trash/`)
    setFilms(data)
  }
  const bringBack = async ({ id: film, file }: Discarded) => {
    await post(`/api/place/${id}/trash/${film}/`)
    say(t('settings.moving.trash.coming', { name: file }))
    forget()
    await reload()
  }
  if (!films)
    return (
      <Button kind="quiet" icon={Trash} onClick={() => void show().catch(sayFailure)}>
        {t('settings.moving.trash', { count: trash })}
      </Button>
    )
  return (
    <ul class="plain">
      {films.map((film) => (
        <li key={film.id}>
          <span dir="auto">{film.file}</span>{' '}
          <span class="meta">{t('settings.moving.trash.until', { day: toMoment(film.until) })}</span>{' '}
          {ours && (
            <Button
              kind="quiet"
              icon={Undo2}
              aria-label={t('settings.moving.trash.backOf', { name: film.file })}
              onClick={() => void bringBack(film).catch(sayFailure)}
            >
              {t('settings.moving.trash.back')}
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

interface PlanProps {
  adoption: Adoption
  place: Place
  accounts: Account[]
  reload: () => Promise<void>
}

function Plan({ adoption, place, accounts, reload }: PlanProps) {
  const { id, state, outcomes, containers, unchanged, along } = adoption
  const offer = useMemo(() => offerOf(along), [JSON.stringify(along)])
  const [chosen, choose] = useState<Chosen>()
  const choice = chosen ?? safeChoice(offer)
  const command = async (what: 'adopt' | 'undo') => {
    await post(`/api/adoption/${id}/`, { command: what, ...(what === 'adopt' && { along: toAlong(choice) }) })
    forget()
    await reload()
  }
  const undo = async () => {
    const isSure = await confirm({
      title: t('settings.moving.undo.title'),
      text: <p>{t('settings.moving.undo.text', { name: place.label })}</p>,
      action: t('settings.moving.undo'),
    })
    if (isSure) await command('undo')
  }
  const unsure = Object.entries(containers).filter(([ending]) => UNSURE.includes(ending))
  const mayCome =
    (outcomes['new']?.count ?? 0) + (outcomes['ask']?.count ?? 0) + (outcomes['moved']?.count ?? 0) > 0 ||
    offer.kinds.size + offer.owners.size > 0
  const isOpen = state === 'planned' || state === 'failed'
  return (
    <Group title={t('settings.moving.plan', { name: place.label })}>
      <div class="option-line">
        <p>
          <strong>
            {state === 'failed'
              ? t('settings.moving.state.failed', { reason: adoption.reason })
              : t(`settings.moving.state.${state}`)}
          </strong>{' '}
          <span class="meta">{toAge(adoption.created_at)}</span>
        </p>
        {state !== 'failed' && adoption.reason !== '' && <p class="hint">{adoption.reason}</p>}
        <ul class="plain">
          {unchanged > 0 && <li>{t('settings.moving.unchanged', { count: unchanged })}</li>}
          {OUTCOMES.flatMap((outcome) => {
            const { count, size } = outcomes[outcome] ?? { count: 0, size: 0 }
            return count === 0
              ? []
              : [
                  <li key={outcome}>
                    {t(`settings.moving.outcome.${outcome}`, { count })}
                    {(outcome === 'new' || outcome === 'ask') && ` (${toBytes(size)})`}
                  </li>,
                ]
          })}
        </ul>
        {unsure.length > 0 && (
          <p class="hint">
            {t('settings.moving.unsure', { names: unsure.map(([ending, count]) => `${ending} (${count})`).join(', ') })}
          </p>
        )}
        {(outcomes['problem']?.count ?? 0) > 0 && !isBusy(adoption) && <Problems id={id} />}
      </div>
      {isOpen && offer.kinds.size + offer.owners.size > 0 && (
        <AlongChoice offer={offer} choice={choice} choose={choose} accounts={accounts} />
      )}
      <div class="option-foot">
        {mayCome && isOpen && (
          <Button kind="main" icon={LogIn} onClick={() => void command('adopt').catch(sayFailure)}>
            {t('settings.moving')}
          </Button>
        )}
        {(state === 'adopted' || state === 'failed') && (
          <Button icon={Undo2} onClick={() => void undo().catch(sayFailure)}>
            {t('settings.moving.undo')}
          </Button>
        )}
      </div>
    </Group>
  )
}

/** What there is to choose: how many of each kind, and how much of each person there. */
interface Offer {
  kinds: Map<Kind, number>
  owners: Map<string, number>
}

function offerOf(along: Adoption['along']): Offer {
  const offer: Offer = { kinds: new Map(), owners: new Map() }
  for (const { kind, owner, count } of along) {
    if (kind === 'watched' || kind === 'position') offer.owners.set(owner, (offer.owners.get(owner) ?? 0) + count)
    else if (kind !== 'list') offer.kinds.set(kind, count)
  }
  return offer
}

interface Chosen {
  kinds: Kind[]
  /** Accounts here, by who they are there. */
  users: Record<string, string>
}

/** A single person there is whoever sits here; of several nobody is guessed. */
function safeChoice({ kinds, owners }: Offer): Chosen {
  const [only, ...others] = owners.keys()
  const name = own.value?.username
  return {
    kinds: SAFE.filter((kind) => kinds.has(kind)),
    users: only !== undefined && others.length === 0 && name !== undefined ? { [only]: name } : {},
  }
}

const toAlong = ({ kinds, users }: Chosen) => ({
  kinds: [...kinds, ...(Object.keys(users).length > 0 ? ['watched', 'position'] : [])],
  users,
})

interface AlongProps {
  offer: Offer
  choice: Chosen
  choose: (choice: Chosen) => void
  accounts: Account[]
}

function AlongChoice({ offer, choice, choose, accounts }: AlongProps) {
  const { kinds, users } = choice
  const setUser = (owner: string, name: string) => {
    const { [owner]: _, ...others } = users
    choose({ ...choice, users: name === '' ? others : { ...others, [owner]: name } })
  }
  const nobody = { value: '', label: t('settings.moving.along.nobody') }
  const people = accounts.map(({ username: name }) => ({
    value: name,
    label: t('settings.moving.along.account', { name }),
  }))
  return (
    <fieldset class="option-form">
      <legend>{t('settings.moving.along')}</legend>
      {[...offer.owners].map(([owner, count]) => (
        <Select
          key={owner}
          label={
            owner === ''
              ? t('settings.moving.along.seen', { count })
              : t('settings.moving.along.seenBy', { owner, count })
          }
          value={users[owner] ?? ''}
          choices={[nobody, ...people]}
          onChange={(name) => setUser(owner, name)}
        />
      ))}
      {KINDS.filter((kind) => offer.kinds.has(kind)).map((kind) => (
        <Switch
          key={kind}
          label={t(`settings.moving.along.${kind}`, { count: offer.kinds.get(kind)! })}
          hint={t(`settings.moving.along.${kind}.hint`)}
          isOn={kinds.includes(kind)}
          onChange={(isOn) =>
            choose({ ...choice, kinds: isOn ? [...kinds, kind] : kinds.filter((one) => one !== kind) })
          }
        />
      ))}
    </fieldset>
  )
}

function Problems({ id }: { id: number }) {
  const [rows, setRows] = useState<AdoptionItem[]>()
  const show = async () => {
    const { data } = await get<{ data: AdoptionItem[] }>(`/api/adoption/${id}/item/`, { outcome: 'problem' })
    setRows(data)
  }
  if (!rows)
    return (
      <Button kind="quiet" icon={ListChecks} onClick={() => void show().catch(sayFailure)}>
        {t('settings.moving.problems')}
      </Button>
    )
  return (
    <ul class="plain">
      {rows.map(({ file, platform_id: video, reason }, at) => (
        <li key={at}>
          <span dir="auto">{file || video}</span>: <span class="meta">{reason}</span>
        </li>
      ))}
    </ul>
  )
}
