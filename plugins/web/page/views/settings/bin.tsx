/** The bin: recently removed videos, channels and playlists, to restore or delete for good. */
import { RotateCcw, Trash, X } from 'lucide'
import { useState } from 'preact/hooks'
import { useKeys } from '../../browser/keys.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Pages, useLastPage } from '../../parts/pages.tsx'
import { inPieces } from '../../parts/pieces.ts'
import { say } from '../../parts/toast.ts'
import { post } from '../../server/api.ts'
import { small } from '../../server/base.ts'
import { getPage } from '../../server/paged.ts'
import type { BinEntry, BinRestored, Page } from '../../server/records.ts'
import { forget, useLoad } from '../../stores/load.ts'
import { toAge, toBytes } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { Preference } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

type Chosen = ReadonlyMap<number, BinEntry>
const NONE: Chosen = new Map()

export function BinSection() {
  const [words, setWords] = useState('')
  const [page, setPage] = useState(1)
  const [chosen, setChosen] = useState(NONE)
  const list = useLoad<Page<BinEntry>>(`settings/bin ${page} ${words}`, (signal) =>
    getPage('/api/bin/', { q: words, page }, signal),
  )
  useLastPage(list, page, setPage)
  // While the list is filtered, "Empty the bin" would also delete the entries that do not match.
  const isSearch = words.trim() !== ''
  /** @param gone  undefined: all */
  const changed = async (gone?: readonly BinEntry[]) => {
    forget()
    await list.reload()
    // Not before: the removed entries are still in the list and could be selected again.
    setChosen((now) => new Map(gone && [...now].filter(([id]) => !gone.some((one) => one.id === id))))
  }
  const restore = async (entries: readonly BinEntry[]) => {
    try {
      await restoreAll(entries)
    } finally {
      await changed(entries)
    }
  }
  const drop = async (entries: readonly BinEntry[]) => {
    if (!(await isSureToDrop(entries))) return
    await inPieces(idsOf(entries), (some) => post('/api/bin/empty/', { entries: some })).finally(() => changed(entries))
    say(t('settings.bin.emptied'))
  }
  const emptyAll = async () => {
    const isSure = await confirm({
      title: t('settings.bin.empty.title'),
      text: <p>{t('settings.bin.empty.text')}</p>,
      action: t('settings.bin.empty'),
      isDangerous: true,
    })
    if (!isSure) return
    await post('/api/bin/empty/', { all: true })
    say(t('settings.bin.emptied'))
    await changed()
  }
  const choose = (entries: readonly BinEntry[], isChosen: boolean) => {
    const next = new Map(chosen)
    for (const entry of entries) {
      if (isChosen) next.set(entry.id, entry)
      else next.delete(entry.id)
    }
    setChosen(next)
  }
  return (
    <>
      <p class="settings-lead">{t('settings.bin.lead')}</p>
      <Days />
      <Group title={t('settings.bin.list')}>
        <div class="option-line">
          <Field
            label={t('settings.bin.search')}
            value={words}
            onInput={(text) => {
              setWords(text)
              setPage(1)
            }}
          />
        </div>
        <Loaded from={list}>
          {({ data, paginate }) => (
            <>
              {data.length === 0 && <p class="option-line">{t(isSearch ? 'pick.none' : 'settings.bin.none')}</p>}
              {data.length > 1 && (
                <label class="bin-all">
                  <input
                    type="checkbox"
                    checked={data.every(({ id }) => chosen.has(id))}
                    onChange={(event) => choose(data, event.currentTarget.checked)}
                  />
                  {t('settings.bin.all')}
                </label>
              )}
              <ul class="settings-rows bin-rows">
                {data.map((entry) => (
                  <Row
                    key={entry.id}
                    entry={entry}
                    isChosen={chosen.has(entry.id)}
                    onChoose={(isChosen) => choose([entry], isChosen)}
                    onRestore={() => restore([entry])}
                    onDrop={() => drop([entry])}
                  />
                ))}
              </ul>
              {((data.length > 0 && !isSearch) || page > 1 || paginate.last_page > page) && (
                <div class="option-foot">
                  <Pages page={page} isMore={paginate.last_page > page} onPage={setPage} />
                  {data.length > 0 && !isSearch && (
                    <Button icon={Trash} onClick={() => emptyAll()}>
                      {t('settings.bin.empty')}
                    </Button>
                  )}
                </div>
              )}
            </>
          )}
        </Loaded>
      </Group>
      <ChosenBar chosen={chosen} onRestore={restore} onDrop={drop} onClear={() => setChosen(NONE)} />
    </>
  )
}

const idsOf = (entries: readonly BinEntry[]): number[] => entries.map(({ id }) => id)

/** Entries that cannot be restored stay in the bin; the first reason is shown. */
async function restoreAll(entries: readonly BinEntry[]): Promise<void> {
  let refusal: string | undefined
  let count = 0
  await inPieces(idsOf(entries), async (some) => {
    const answer = await post<BinRestored>('/api/bin/restore/', { entries: some })
    count += answer.restored
    const [first] = answer.refused
    if (first) refusal ??= `${first.title}: ${inWords(first.reason, answer.said)}`
  })
  if (count > 0) say(t('bin.restored'))
  if (refusal !== undefined) say(refusal, { isError: true })
}

function isSureToDrop(entries: readonly BinEntry[]): Promise<boolean> {
  const [first] = entries
  const lost = entries.filter(({ active }) => !active).length
  return confirm({
    title:
      entries.length === 1
        ? t('settings.bin.drop.title', { name: first!.title })
        : t('settings.bin.drop.titles', { count: entries.length }),
    text: (
      <>
        <p>{t('settings.bin.empty.text')}</p>
        {lost > 0 && <p>{t('settings.bin.drop.lost', { count: lost })}</p>}
      </>
    ),
    action: t('settings.bin.drop'),
    isDangerous: true,
  })
}

interface ChosenBarProps {
  chosen: Chosen
  onRestore: (entries: readonly BinEntry[]) => Promise<void>
  onDrop: (entries: readonly BinEntry[]) => Promise<void>
  onClear: () => void
}

function ChosenBar({ chosen, onRestore, onDrop, onClear }: ChosenBarProps) {
  useKeys({ Escape: () => chosen.size > 0 && onClear() })
  if (chosen.size === 0) return null
  const entries = [...chosen.values()]
  const bytes = entries.reduce((sum, one) => sum + one.media_size, 0)
  return (
    <div class="selection" role="toolbar" aria-label={t('settings.bin.bar')}>
      <p role="status">{t('settings.bin.chosen', { count: entries.length, size: toBytes(bytes) })}</p>
      <Button kind="quiet" icon={RotateCcw} onClick={() => onRestore(entries)}>
        {t('settings.bin.restoreChosen')}
      </Button>
      <Button kind="quiet" class="danger-text" icon={Trash} onClick={() => onDrop(entries)}>
        {t('settings.bin.dropChosen')}
      </Button>
      <IconButton icon={X} label={t('select.clear')} onClick={onClear} />
    </div>
  )
}

interface RowProps {
  entry: BinEntry
  isChosen: boolean
  onChoose: (isChosen: boolean) => void
  onRestore: () => Promise<void>
  onDrop: () => Promise<void>
}

function Row({ entry, isChosen, onChoose, onRestore, onDrop }: RowProps) {
  const { kind, title, channel_name: channel, media_size: bytes, thumb_url: picture, note, removed, until } = entry
  return (
    <li>
      <input
        type="checkbox"
        aria-label={t('select.one', { title })}
        checked={isChosen}
        onChange={(event) => onChoose(event.currentTarget.checked)}
      />
      <img src={small(picture)} alt="" loading="lazy" width={96} height={54} />
      <div class="row-words">
        <strong dir="auto">{title}</strong>
        <p class="meta">
          {[
            channel,
            kind === 'film' ? t('settings.bin.earlier') : '',
            toBytes(bytes),
            t('settings.bin.removed', { age: toAge(removed) }),
            note,
            until === null ? t('settings.bin.gone') : t('settings.bin.until', { age: toAge(until) }),
          ]
            .filter((one) => one !== '')
            .join(' · ')}
        </p>
      </div>
      <IconButton icon={RotateCcw} label={t('settings.bin.restore', { name: title })} onClick={onRestore} />
      <IconButton icon={Trash} label={t('settings.bin.dropOf', { name: title })} onClick={onDrop} />
    </li>
  )
}

function Days() {
  const preferences = usePreferences()
  return (
    <Loaded from={preferences} height="120px">
      {() => (
        <Group title={t('settings.bin.keep')}>
          <Preference preferences={preferences} name="bin.days" />
        </Group>
      )}
    </Loaded>
  )
}
