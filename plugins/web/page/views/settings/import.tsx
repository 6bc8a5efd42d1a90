/** Import: the libraries that were found, the plan of one of them, earlier imports, and the known folders. */

import { Loaded } from '../../parts/loaded.tsx'
import { get } from '../../server/api.ts'
import type { Account, Adoption, Adoptions, Places } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { useLoad } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'
import { Folders } from './import-folders.tsx'
import { Plan } from './import-plan.tsx'
import { Start } from './import-start.tsx'

const TASKS = ['scan_place', 'adopt_videos', 'complete_videos', 'undo_adoption']

interface All {
  places: Places
  adoptions: Adoptions
  accounts: Account[]
}

/** The newest plan of each place, and imports that can still be undone; newest first. */
function shownOf({ places: { places }, adoptions: { adoptions } }: All): Adoption[] {
  const seen = new Set<number>()
  return adoptions.filter(({ place, state }) => {
    const isNewest = !seen.has(place)
    seen.add(place)
    return (isNewest || state === 'adopted') && places.some(({ id }) => id === place)
  })
}

export function ImportSection() {
  const all = useLoad<All>('settings/import', async (signal) => {
    const [places, adoptions, accounts] = await Promise.all([
      get<Places>('/api/place/', {}, signal),
      get<Adoptions>('/api/adoption/', {}, signal),
      get<Account[]>('/api/user/', {}, signal),
    ])
    return { places, adoptions, accounts }
  })
  useJobs(TASKS, () => void all.reload())
  return (
    <>
      <p class="settings-lead">{t('settings.import.lead')}</p>
      <Loaded from={all}>
        {(value) => {
          const { places, adoptions, accounts } = value
          const [newest, ...others] = shownOf(value)
          const planOf = (one: Adoption) => (
            <Plan
              key={one.id}
              adoption={one}
              place={places.places.find(({ id }) => id === one.place)!}
              accounts={accounts}
              sources={adoptions.sources}
              reload={all.reload}
            />
          )
          return (
            <>
              {newest && planOf(newest)}
              <Start places={places.places} roots={places.roots} missing={places.missing} reload={all.reload} />
              {others.map(planOf)}
              <Folders places={places.places} adoptions={adoptions.adoptions} reload={all.reload} />
            </>
          )
        }}
      </Loaded>
    </>
  )
}
