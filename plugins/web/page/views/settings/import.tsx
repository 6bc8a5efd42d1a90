/** Import: folders of other programs, what was found in them, and the way in and out again. */

import { Loaded } from '../../parts/loaded.tsx'
import { get } from '../../server/api.ts'
import type { Account, Adoptions, Places } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { useLoad } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'
import { Folders } from './import-folders.tsx'
import { Plan } from './import-plan.tsx'

const TASKS = ['scan_place', 'adopt_videos', 'complete_videos', 'undo_adoption']

interface Both {
  places: Places
  adoptions: Adoptions
  accounts: Account[]
}

export function ImportSection() {
  const both = useLoad<Both>('settings/import', async (signal) => {
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
      <p class="settings-lead">{t('settings.import.lead')}</p>
      <Loaded from={both}>
        {({ places: { places, roots }, adoptions: { adoptions, sources }, accounts }) => (
          <>
            <Folders places={places} roots={roots} adoptions={adoptions} reload={both.reload} />
            {places.flatMap((place) =>
              adoptions
                .filter((one) => one.place === place.id)
                .filter(({ state }, at) => at === 0 || state === 'adopted')
                .map((one) => (
                  <Plan
                    key={one.id}
                    adoption={one}
                    place={place}
                    accounts={accounts}
                    sources={sources}
                    reload={both.reload}
                  />
                )),
            )}
          </>
        )}
      </Loaded>
    </>
  )
}
