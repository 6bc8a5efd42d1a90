/** Skips a test with a printed reason if something that it needs is missing, unless AV_TEST_REQUIRE lists it. */

/**
 * @param name    as in AV_TEST_REQUIRE, such as `elasticsearch`
 * @param reason  why the test cannot run here
 * @returns the reason, for `skip`
 * @throws if it must not be skipped (`.ci/run`)
 */
export function missingHere(name: string, reason: string): string {
  const required = (process.env.AV_TEST_REQUIRE ?? '').split(',').map((one) => one.trim())
  if (required.includes(name)) throw new Error(`${reason}, and AV_TEST_REQUIRE says that ${name} must not be skipped`)
  return reason
}
