/** Finds a setting by words of its label, its description, or its section. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { navigate } from '../../browser/router.ts'
import { under } from '../../server/base.ts'
import { community, isAdmin } from '../../stores/session.ts'
import { t, textsUnder } from '../../texts/lookup.ts'
import { sectionOfGroup } from './preference-options.tsx'
import { preferencesByGroup, preferenceWords, usePreferences } from './preferences.ts'

interface Entry {
  section: string
  label: string
  hint: string
}

const MOST_FOUND = 20
/** Maximum length of a label; longer texts are sentences, not names of settings. */
const LONGEST_LABEL = 60
/** Interval at which an opened section is checked for the setting, because sections load their settings. */
const POLL_MS = 50
const MOST_POLLS = 60

/** Prefixes of further texts that a section shows. */
const FURTHER: Record<string, readonly string[]> = {
  account: ['password', 'picture', 'pin', 'provider', 'totp', 'sessions', 'tokens', 'token'],
  appearance: ['colours', 'layout', 'titles', 'segments', 'lists', 'style', 'pageSize'],
  downloads: ['quality', 'height', 'subtitles', 'comments', 'pace', 'afterwards', 'autodelete', 'route', 'ytdlp'],
  subscriptions: ['scan', 'found'],
  playback: ['watching'],
  faces: ['servers', 'plex'],
  notifications: ['notify'],
  safety: ['whole', 'offsite', 'snapshots', 'backups', 'restore'],
  users: ['signIns'],
}

/** Parts that are shown only if the community contributions of the same name are switched on. */
const OF_COMMUNITY: ReadonlySet<string> = new Set(['titles', 'segments'])

const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{Diacritic}/gu, '')
    .toLowerCase()

/** @param sections  the sections that the account sees, with their titles */
export function FindSetting({ sections, children }: { sections: Map<string, string>; children: ComponentChildren }) {
  const [words, setWords] = useState('')
  const [entries, setEntries] = useState<Entry[]>()
  useEffect(() => {
    if (words === '' || entries) return
    if (!isAdmin.value) setEntries(entriesIn(sections))
  }, [words, entries, sections])
  const found = words === '' ? undefined : entries && matching(entries, sections, words)
  return (
    <>
      <search class="settings-find">
        <input
          type="search"
          aria-label={t('settings.find')}
          placeholder={t('settings.find')}
          autocomplete="off"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      </search>
      {words !== '' && isAdmin.value && !entries && <Described onReady={() => setEntries(entriesIn(sections))} />}
      {found ? <Found found={found} sections={sections} words={words} /> : children}
    </>
  )
}

/** Loads the titles and descriptions of preferences, which only admins may see. */
function Described({ onReady }: { onReady: () => void }) {
  const { state } = usePreferences().now.value
  useEffect(() => {
    if (state !== 'loading') onReady()
  }, [state])
  return null
}

function Found({ found, sections, words }: { found: Entry[]; sections: Map<string, string>; words: string }) {
  return (
    <div>
      <p role="status">
        {found.length === 0 ? t('search.none', { text: words }) : t('search.count', { count: found.length })}
      </p>
      <ul>
        {found.map(({ section, label }) => (
          <li key={`${section} ${label}`}>
            <a
              href={under(`/settings/${section}/`)}
              onClick={(event) => {
                event.preventDefault()
                navigate(`/settings/${section}/`)
                bringIntoView(label)
              }}
            >
              <span>
                {label}
                <span class="meta">{sections.get(section)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}

function entriesIn(sections: Map<string, string>): Entry[] {
  const entries: Entry[] = []
  for (const [section, title] of sections) {
    entries.push({ section, label: title, hint: '' })
    const parts = (FURTHER[section] ?? []).filter((part) => !OF_COMMUNITY.has(part) || community.peek().includes(part))
    for (const label of [section, ...parts].flatMap((part) => textsUnder(`settings.${part}`)))
      if (label.length <= LONGEST_LABEL && !label.includes('{')) entries.push({ section, label, hint: '' })
  }
  if (!isAdmin.value) return entries
  for (const [group, names] of preferencesByGroup())
    for (const name of names) {
      const { label, hint } = preferenceWords(name)
      const section = sectionOfGroup(group)
      if (sections.has(section)) entries.push({ section, label, hint })
    }
  return entries
}

/** The settings that contain all words; first those whose label contains them. */
function matching(entries: readonly Entry[], sections: Map<string, string>, words: string): Entry[] {
  const wanted = plain(words).split(/\s+/).filter(Boolean)
  const hasAll = (text: string) => wanted.every((word) => plain(text).includes(word))
  const found = [
    ...entries.filter(({ label }) => hasAll(label)),
    ...entries.filter(({ section, label, hint }) => hasAll(`${label} ${hint} ${sections.get(section)}`)),
  ]
  const distinct = new Map(found.map((entry) => [`${entry.section} ${entry.label}`, entry]))
  return [...distinct.values()].slice(0, MOST_FOUND)
}

function bringIntoView(label: string, polls = 0): void {
  const texts = document.querySelectorAll<HTMLElement>('.settings-body :is(label, h2, h3, button, summary)')
  const own = [...texts].find((one) => one.textContent?.trim() === label)
  if (own) {
    for (let fold = own.closest('details'); fold; fold = fold.parentElement!.closest('details')) fold.open = true
    own.scrollIntoView({ block: 'center' })
  } else if (polls < MOST_POLLS) setTimeout(() => bringIntoView(label, polls + 1), POLL_MS)
}
