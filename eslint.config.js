import neostandard from 'neostandard'

const { plugin } = neostandard.plugins['typescript-eslint']

// tap's parent test waits for `t.test(…)` by itself.
const subtest = { from: 'package', name: 'PromiseWithSubtest', package: '@tapjs/core' }

export default [
  ...neostandard({
    ts: true,
    noJsx: true,
    ignores: ['build/', 'dist/', 'node_modules/', '.bench/', '.conformance/', '.tap/']
  }),
  {
    files: ['**/*.ts'],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname }
    },
    plugins: { '@typescript-eslint': plugin },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafePromises: [subtest] }],
      '@typescript-eslint/no-misused-promises': 'error',
      'no-void': ['error', { allowAsStatement: true }],
      // A schema and its type share a name: `const X = Type.Object(…)`, `type X = Static<typeof X>`. The compiler reports real clashes.
      'no-redeclare': 'off',
      '@typescript-eslint/no-redeclare': 'off'
    }
  },
  {
    // stdout belongs to the stdio transport.
    files: ['**/*.{js,ts}'],
    ignores: ['test/**', 'bench/**'],
    rules: { 'no-console': 'error' }
  }
]
