/** Import: the films that were found in a folder, and what happens to them. */
import { Clapperboard, LogIn, Pause, Play, RotateCw, Undo2 } from 'lucide'
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Select } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { say } from '../../parts/toast.ts'
import { post } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Account, Adoption, Place } from '../../server/records.ts'
import { forget } from '../../stores/load.ts'
import { toAge, toBytes } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { AlongChoice, type Chosen, offerOf, safeChoice, toAlong } from './import-along.tsx'
import { Progress } from './import-progress.tsx'
import { Channels, Pictures, Rows } from './import-rows.tsx'
import { SetThere } from './import-settings.tsx'
import { Source, type Sources } from './import-source.tsx'
import { startImport, takeStarted } from './import-started.ts'

const OUTCOMES = ['new', 'ask', 'moved', 'known', 'removed', 'problem'] as const
/** Containers that some browsers cannot play. */
const UNSURE = ['mkv', 'mov', 'avi', 'flv', 'wmv', 'mpg', 'mpeg', 'ts', 'm2ts', '3gp', 'ogv', 'mka']

/** Problems of videos that the other program lists, but whose files are missing. */
const GONE = ['in_archive_only', 'missing_file'] as const

export const isBusy = ({ state }: Adoption): boolean =>
  state === 'scanning' || state === 'adopting' || state === 'undoing'

interface PlanProps {
  adoption: Adoption
  place: Place
  accounts: Account[]
  sources: Sources
  reload: () => Promise<void>
}

export function Plan({ adoption, place, accounts, sources, reload }: PlanProps) {
  const { id, state, along } = adoption
  const offer = useMemo(() => offerOf(along), [JSON.stringify(along)])
  const [chosen, choose] = useState<Chosen>()
  const choice = chosen ?? safeChoice(offer)
  const isAlong = offer.kinds.size + offer.owners.size > 0
  const isOpen = state === 'planned' || state === 'failed'
  const mayCome = countOf(adoption, 'new', 'ask', 'moved') > 0 || isAlong || choice.gone !== undefined
  const program = sources.find(({ name }) => name === adoption.source)?.title
  const box = useRef<HTMLDivElement>(null)
  useArrival(adoption, place.label, box)
  const command = async (what: 'adopt' | 'undo' | 'complete' | 'ask' | 'stop') => {
    if (what === 'adopt') await startImport(id, toAlong(choice))
    else await post(`/api/adoption/${id}/`, { command: what })
    forget()
    await reload()
  }
  const reason = inWords(adoption.reason, adoption.said)
  const title = program
    ? t('settings.import.plan.of', { program, name: place.label })
    : t('settings.import.plan', { name: place.label })
  return (
    <div class="plan settings-group" ref={box}>
      <h2 tabIndex={-1}>{title}</h2>
      <div class="settings-panel">
        <div class="option-line">
          <p>
            <strong>
              {state === 'failed' ? t('settings.import.state.failed', { reason }) : t(`settings.import.state.${state}`)}
            </strong>{' '}
            <span class="meta">{toAge(adoption.created_at)}</span>
          </p>
          {state !== 'failed' && reason !== '' && <p class="hint">{reason}</p>}
          <Progress adoption={adoption} />
          {isOpen && <Pictures key={state} id={id} />}
          <Found key={`${id} ${state}`} adoption={adoption} reload={reload} />
          {state !== 'scanning' && (
            <Source adoption={adoption} place={place} sources={sources} mayChange={isOpen} reload={reload} />
          )}
          <SetThere adoption={adoption} />
        </div>
        {isOpen && isAlong && <AlongChoice offer={offer} choice={choice} choose={choose} accounts={accounts} />}
        {isOpen && <Gone adoption={adoption} choice={choice} choose={choose} reload={reload} />}
        <div class="option-foot plan-foot">
          {mayCome && isOpen && adoption.map?.sure !== false && (
            <Button kind="main" icon={LogIn} onClick={() => command('adopt')}>
              {t('settings.import')}
            </Button>
          )}
          <Commands adoption={adoption} name={place.label} command={command} />
        </div>
      </div>
    </div>
  )
}

/** When a scan or an import ends, scrolls to the plan, moves the focus to it and announces the result. */
function useArrival(adoption: Adoption, name: string, box: RefObject<HTMLDivElement | null>): void {
  const { state } = adoption
  const before = useRef<Adoption['state']>(undefined)
  useEffect(() => {
    const was = takeStarted(adoption) ?? before.current
    const hasBegun = before.current !== state && (state === 'scanning' || state === 'adopting')
    const hasEnded = (was === 'scanning' && state === 'planned') || (was === 'adopting' && state === 'adopted')
    before.current = state
    if (!hasBegun && !hasEnded) return
    box.current?.scrollIntoView({ block: 'start' })
    if (!hasEnded) return
    box.current?.querySelector('h2')?.focus({ preventScroll: true })
    if (state === 'planned') say(t('settings.import.ready', { name, count: countOf(adoption, 'new', 'ask', 'moved') }))
    else say(t('settings.import.done', { name, count: importedIn(adoption) }))
  }, [state])
}

const countOf = ({ outcomes }: Adoption, ...some: ReadonlyArray<(typeof OUTCOMES)[number]>): number =>
  some.reduce((sum, outcome) => sum + (outcomes[outcome]?.count ?? 0), 0)

/** The number of imported films whose pictures or subtitles are pending. */
const openIn = ({ states }: Adoption): number => (states['in'] ?? 0) + (states['planned'] ?? 0)

const importedIn = ({ states }: Adoption): number => (states['in'] ?? 0) + (states['done'] ?? 0)

/** Before an import: the films by outcome. */
function Planned({ adoption, reload }: FoundProps) {
  const { id, outcomes, problems } = adoption
  // Videos without a file are left out, because a question below is about them.
  const apart = GONE.reduce((sum, code) => sum + (problems[code] ?? 0), 0)
  return OUTCOMES.flatMap((outcome) => {
    const { count: all, size } = outcomes[outcome] ?? { count: 0, size: 0 }
    const count = outcome === 'problem' ? all - apart : all
    const said = t(`settings.import.outcome.${outcome}`, { count })
    if (count === 0) return []
    const title = outcome === 'new' || outcome === 'ask' ? `${said} (${toBytes(size)})` : said
    if (isBusy(adoption)) return [<p key={outcome}>{title}</p>]
    return [
      <Rows
        key={outcome}
        id={id}
        title={title}
        chosen={outcome === 'problem' ? { part: 'skipped' } : { outcome }}
        reload={reload}
      />,
    ]
  })
}

/** After an import: the films by state, each counted once. */
function Done({ adoption, reload }: FoundProps) {
  const { id, states } = adoption
  const counts = { imported: importedIn(adoption), waiting: states['planned'] ?? 0, left: states['left'] ?? 0 }
  const parts = (['imported', 'waiting', 'left'] as const).map((part) => ({
    title: t(`settings.import.part.${part}`, { count: counts[part] }),
    count: counts[part],
    chosen: { part } as Record<string, string>,
  }))
  const others = (['moved', 'known', 'removed', 'problem'] as const).map((outcome) => ({
    title: t(`settings.import.outcome.${outcome}`, { count: countOf(adoption, outcome) }),
    count: countOf(adoption, outcome),
    chosen: { outcome } as Record<string, string>,
  }))
  return [...parts, ...others]
    .filter(({ count }) => count > 0)
    .map(({ title, chosen }) => <Rows key={title} id={id} title={title} chosen={chosen} reload={reload} />)
}

interface FoundProps {
  adoption: Adoption
  reload: () => Promise<void>
}

function Found({ adoption, reload }: FoundProps) {
  const { id, state, containers, unchanged } = adoption
  const open = openIn(adoption)
  const unsure = Object.entries(containers).filter(([ending]) => UNSURE.includes(ending))
  return (
    <>
      {unchanged > 0 && <p>{t('settings.import.unchanged', { count: unchanged })}</p>}
      <div>
        {state === 'adopted' ? (
          <Done adoption={adoption} reload={reload} />
        ) : (
          <Planned adoption={adoption} reload={reload} />
        )}
        {countOf(adoption, 'new', 'ask') > 0 && !isBusy(adoption) && <Channels id={id} />}
      </div>
      {state === 'adopted' && open > 0 && (
        <p class="hint">
          {t(adoption.completing ? 'settings.import.completing' : 'settings.import.incomplete', { count: open })}
        </p>
      )}
      {unsure.length > 0 && (
        <p class="hint">
          {t('settings.import.unsure', { names: unsure.map(([ending, count]) => `${ending} (${count})`).join(', ') })}
        </p>
      )}
    </>
  )
}

/** Videos that the other program lists but whose files are missing, and what to do with them. */
function Gone({
  adoption: { id, problems },
  choice,
  choose,
  reload,
}: FoundProps & {
  choice: Chosen
  choose: (choice: Chosen) => void
}) {
  const codes = GONE.filter((code) => (problems[code] ?? 0) > 0)
  const count = codes.reduce((sum, code) => sum + problems[code]!, 0)
  if (count === 0) return null
  return (
    <div class="option-form">
      <Select
        label={t('settings.import.gone', { count })}
        value={choice.gone ?? ''}
        choices={[
          { value: '', label: t('settings.import.gone.leave') },
          { value: 'queue', label: t('settings.import.gone.queue') },
          { value: 'ignore', label: t('settings.import.gone.ignore') },
        ]}
        onChange={(what) => {
          const { gone: _, ...others } = choice
          choose(what === 'queue' || what === 'ignore' ? { ...others, gone: what } : others)
        }}
      />
      {codes.map((code) => (
        <Rows
          key={code}
          id={id}
          title={t(`settings.import.gone.${code}`, { count: problems[code]! })}
          chosen={{ code }}
          reload={reload}
        />
      ))}
    </div>
  )
}

/** Buttons for an import that is in progress or has ended. */
function Commands({
  adoption,
  name,
  command,
}: {
  adoption: Adoption
  name: string
  command: (what: 'undo' | 'complete' | 'ask' | 'stop') => Promise<void>
}) {
  const { state, completing } = adoption
  const undo = async () => {
    const isSure = await confirm({
      title: t('settings.import.undo.title'),
      text: <p>{t('settings.import.undo.text', { name })}</p>,
      action: t('settings.import.undo'),
    })
    if (isSure) await command('undo')
  }
  return (
    <>
      {state === 'adopted' && importedIn(adoption) > 0 && (
        <a class="button main" href={under('/')}>
          <Icon node={Clapperboard} />
          {t('settings.import.watch')}
        </a>
      )}
      {(state === 'scanning' || state === 'adopting' || completing) && (
        <Button icon={Pause} onClick={() => command('stop')}>
          {t(completing ? 'settings.import.pause' : 'settings.import.stop')}
        </Button>
      )}
      {state === 'adopted' && openIn(adoption) > 0 && !completing && (
        <Button icon={Play} onClick={() => command('complete')}>
          {t('settings.import.goOn')}
        </Button>
      )}
      {state === 'adopted' && (adoption.states.left ?? 0) > 0 && !completing && (
        <Button icon={RotateCw} onClick={() => command('ask')}>
          {t('settings.import.ask')}
        </Button>
      )}
      {(state === 'adopted' || state === 'failed') && (
        <Button icon={Undo2} onClick={() => undo()}>
          {t('settings.import.undo')}
        </Button>
      )}
    </>
  )
}
